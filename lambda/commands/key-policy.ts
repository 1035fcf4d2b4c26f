import * as z from 'zod/mini';

const oneOrMore = z.union([z.string(), z.array(z.string())]);
const principal = z.union([z.string(), z.record(z.string(), oneOrMore)]);
const statement = z.object({
  Effect: z.enum(['Allow', 'Deny']),
  Principal: z.optional(principal),
  NotPrincipal: z.optional(principal),
  Action: z.optional(oneOrMore),
  NotAction: z.optional(oneOrMore),
  Condition: z.optional(z.unknown()),
});
const policy = z.object({ Statement: z.union([statement, z.array(statement)]) });

type Statement = z.output<typeof statement>;

/**
 * Whether the policy of a key lets a service do all of these. Conditions are not judged: with one,
 * an Allow counts, and a Deny does not.
 *
 * @param text JSON
 * @throws if the policy cannot be read
 */
export function letsIn(text: string, service: string, actions: readonly string[]): boolean {
  const its = [policy.parse(JSON.parse(text)).Statement].flat().filter(speaksOf(service));
  const has = (effect: Statement['Effect'], action: string) =>
    its.some(
      (one) =>
        one.Effect === effect &&
        (effect === 'Allow' || one.Condition === undefined) &&
        isAbout(one, action),
    );
  return actions.every((action) => has('Allow', action) && !has('Deny', action));
}

const speaksOf =
  (service: string) =>
  ({ Principal, NotPrincipal }: Statement): boolean =>
    NotPrincipal === undefined ? names(Principal, service) : !names(NotPrincipal, service);

function names(principal: Statement['Principal'], service: string): boolean {
  if (principal === undefined || typeof principal === 'string') return principal === '*';
  const { Service = [], AWS = [] } = principal;
  return [Service].flat().includes(service) || [AWS].flat().includes('*');
}

function isAbout({ Action = [], NotAction }: Statement, action: string): boolean {
  const isIn = (patterns: string | string[]) =>
    [patterns].flat().some((one) => covers(one, action));
  return NotAction === undefined ? isIn(Action) : !isIn(NotAction);
}

/** In the pattern, `*` and `?` stand for other characters. */
function covers(pattern: string, action: string): boolean {
  const literal = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i').test(action);
}
