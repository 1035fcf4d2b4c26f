import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { NotInWorldError, SandboxRequestError } from './errors.ts';
import { faultSchema } from './faults.ts';
import type { PartnerSandbox } from './index.ts';
import { parseRequest } from './parse.ts';
import type { SandboxAnswer } from './rules.ts';
import { switchesSchema } from './switches.ts';
import { changesSchema, damageSchema, newAssessmentSchema } from './world-schema.ts';

/** The path of the control API. The partner's API has no path below it. */
export const controlPrefix = '/_sandbox';

/**
 * A change that people or tests in other processes make in a running sandbox.
 *
 * @param input the JSON body, `{}` without one
 */
type Operation = (sandbox: PartnerSandbox, input: unknown, id: number) => unknown;

const idList = z.array(z.int()).optional();
const scopeSchema = z.strictObject({ organization_ids: idList, product_ids: idList });
const additionSchema = newAssessmentSchema.extend({
  count: z.int().min(1).max(100_000).optional(),
});
const moveSchema = z.strictObject({ certified_on: z.iso.date() });
const renameSchema = z.strictObject({ name: z.string() });
const manyFaults = z.array(faultSchema);

/** By method and path below the prefix; `:id` stands for digits. */
const operations: Readonly<Record<string, Operation>> = {
  'GET ': describe,
  'GET /requests': ({ requests }) => requests,
  'DELETE /requests': (sandbox) => sandbox.resetRequests(),
  'POST /assessments': ({ world }, input) => {
    const { count = 1, ...wanted } = parseRequest(additionSchema, input);
    const added = Array.from({ length: count }, () => world.add(wanted));
    return count === 1 ? added[0] : { ids: added.map(({ id }) => id) };
  },
  'GET /assessments/:id': ({ world }, _, id) => ({
    ...world.hidden(id),
    assessment: world.get(id),
  }),
  'PATCH /assessments/:id': ({ world }, input, id) =>
    world.change(id, parseRequest(changesSchema, input)),
  'DELETE /assessments/:id': ({ world }, _, id) => world.remove(id),
  'POST /assessments/:id/move': ({ world }, input, id) =>
    world.moveTo(id, parseRequest(moveSchema, input).certified_on),
  'POST /assessments/:id/restore': ({ world }, _, id) => world.restore(id),
  'POST /assessments/:id/archive': ({ world }, _, id) => world.change(id, { status: 'archived' }),
  'POST /assessments/:id/unarchive': ({ world }, _, id) => world.change(id, { status: 'active' }),
  'POST /assessments/:id/spoil': ({ world }, input, id) =>
    world.spoil(id, parseRequest(damageSchema, input)),
  'POST /assessments/:id/mend': ({ world }, _, id) => world.mend(id),
  'PATCH /organizations/:id': ({ world }, input, id) =>
    world.renameOrganization(id, parseRequest(renameSchema, input).name),
  'PATCH /products/:id': ({ world }, input, id) =>
    world.renameProduct(id, parseRequest(renameSchema, input).name),
  'PUT /scope': ({ world }, input) => world.setScope(parseRequest(scopeSchema, input)),
  'POST /scope/widen': ({ world }, input) => world.widenScope(parseRequest(scopeSchema, input)),
  'POST /scope/narrow': ({ world }, input) => world.narrowScope(parseRequest(scopeSchema, input)),
  'POST /secret': (sandbox) => sandbox.rotateSecret(),
  'GET /faults': ({ faults }) => faults,
  // Two schemas, since the error of a union would not name the problem.
  'POST /faults': (sandbox, input) =>
    Array.isArray(input)
      ? sandbox.injectFaults(...parseRequest(manyFaults, input))
      : sandbox.injectFaults(parseRequest(faultSchema, input)),
  'DELETE /faults': (sandbox) => sandbox.clearFaults(),
  'PATCH /switches': (sandbox, input) => {
    sandbox.set(parseRequest(switchesSchema.partial(), input));
    return sandbox.switches;
  },
};

function describe({ url, credentials, world, switches, faults, requests }: PartnerSandbox) {
  const { organizationIds, productIds } = world.scope;
  return {
    url,
    credentials,
    time_zone: world.timeZone,
    count: world.count,
    organizations: world.catalogue.organizations.all.map(({ id, name }) => ({
      id,
      name,
      in_scope: organizationIds.has(id),
    })),
    products: world.catalogue.products.all.map(({ id, name, parts }) => ({
      id,
      name,
      parts,
      in_scope: productIds.has(id),
    })),
    switches,
    faults,
    requests: requests.length,
  };
}

/**
 * Whether a request comes from this machine, but from no web page: a loopback peer, a Host that names loopback (a page
 * behind a rebound DNS name has another) and no foreign Origin.
 */
export function isLocal(request: IncomingMessage): boolean {
  const peer = request.socket.remoteAddress ?? '';
  if (!/^(::ffff:)?127\.|^::1$/.test(peer)) return false;
  const host = request.headers.host ?? '';
  if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(host)) return false;
  const { origin } = request.headers;
  return origin === undefined || origin === `http://${host}`;
}

const failure = (status: number, message: string): SandboxAnswer => ({ status, body: { message } });

/** Carries out a control request that has passed `isLocal`. */
export function control(
  sandbox: PartnerSandbox,
  method: string,
  path: string,
  body: string,
): SandboxAnswer {
  const below = path.slice(controlPrefix.length).replace(/\/$/, '');
  const id = /\/(\d+)(?=\/|$)/.exec(below)?.[1];
  const template = id === undefined ? below : below.replace(id, ':id');
  const operation = operations[`${method} ${template}`];
  if (operation === undefined)
    return failure(404, 'There is no such control; see docs/partner.md#control-it.');
  try {
    const input: unknown = body.trim() === '' ? {} : JSON.parse(body);
    const result = operation(sandbox, input, Number(id));
    return result === undefined ? { status: 204, body: undefined } : { status: 200, body: result };
  } catch (error) {
    if (error instanceof NotInWorldError) return failure(404, error.message);
    if (error instanceof SandboxRequestError) return failure(422, error.message);
    if (error instanceof SyntaxError) return failure(400, 'The body is not JSON.');
    throw error;
  }
}
