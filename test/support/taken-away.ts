import type { AwsCall, Reply, ServiceCall } from '../../local/aws/gate.ts';
import type { StackPlace, Template } from '../../local/aws/template.ts';
import {
  isAllowed,
  type Permission,
  Requirements,
  type RoleOfFunction,
  rolesOfFunctions,
} from './iam.ts';

/** The template's roles, and AWS's answers where a role lacks an action. */
export class Roles {
  readonly #roles: ReadonlyMap<string, RoleOfFunction>;
  readonly #requirements: Requirements;

  constructor(template: Template, place: StackPlace) {
    const roles = rolesOfFunctions(template, place);
    this.#roles = new Map(roles.map((role) => [role.functionName, role]));
    this.#requirements = new Requirements(template, place);
  }

  actionsOf(functionName: string): string[] {
    return [...new Set(this.#of(functionName).granted.map(({ action }) => action))];
  }

  /**
   * A rule for each gate in front of AWS: the function's role has lost the action on all resources.
   */
  without(functionName: string, lost: string): (call: ServiceCall) => Promise<Reply> {
    const role = this.#of(functionName);
    const left = { ...role, granted: role.granted.filter(({ action }) => action !== lost) };
    return async ({ asked, forward }) => {
      if (asked?.caller !== functionName) return forward();
      const missing = this.#requirements.of(asked).find((one) => !isAllowed(left, one));
      return missing ? denial(asked, missing) : forward();
    };
  }

  #of(functionName: string): RoleOfFunction {
    const role = this.#roles.get(functionName);
    if (role === undefined) throw new Error(`no role of ${functionName}`);
    return role;
  }
}

/** In each service's own words. */
function denial({ service, caller }: AwsCall, { action, resource }: Permission): Reply {
  const message = `User: arn:aws:sts::000000000000:assumed-role/${caller}/${caller} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
  const ofKey = action.startsWith('kms:');
  if (service === 'sns') return xml(403, ofKey ? 'KMSAccessDenied' : 'AuthorizationError', message);
  if (service === 'sqs')
    return json(400, ofKey ? 'KmsAccessDenied' : 'AccessDeniedException', message);
  const told = ofKey && service !== 'kms' ? 'Access to KMS is not allowed' : message;
  return json(400, 'AccessDeniedException', told);
}

export function json(status: number, type: string, message = 'no'): Reply {
  const body = JSON.stringify({ __type: type, message });
  return { status, type: 'application/x-amz-json-1.0', body };
}

export function xml(status: number, code: string, message = 'no'): Reply {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, type: 'text/xml', body: `<ErrorResponse>${error}</ErrorResponse>` };
}
