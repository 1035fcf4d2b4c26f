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

/** A change that people or tests in other processes make in a running sandbox. */
interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the prefix; `:id` stands for digits. */
  readonly path: string;
  /** `input` is the JSON body, `{}` without one. */
  readonly act: (sandbox: PartnerSandbox, input: unknown, id: number) => unknown;
}

const idList = z.array(z.int()).optional();
const scopeSchema = z.strictObject({ organization_ids: idList, product_ids: idList });
const additionSchema = newAssessmentSchema.extend({
  count: z.int().min(1).max(100_000).optional(),
});
const moveSchema = z.strictObject({ certified_on: z.iso.date() });
const renameSchema = z.strictObject({ name: z.string() });
const manyFaults = z.array(faultSchema);

const operations: readonly Operation[] = [
  { method: 'GET', path: '', act: describe },
  { method: 'GET', path: '/requests', act: ({ requests }) => requests },
  { method: 'DELETE', path: '/requests', act: (sandbox) => sandbox.resetRequests() },
  {
    method: 'POST',
    path: '/assessments',
    act: ({ world }, input) => {
      const { count = 1, ...wanted } = parseRequest(additionSchema, input);
      const added = Array.from({ length: count }, () => world.add(wanted));
      return count === 1 ? added[0] : { ids: added.map(({ id }) => id) };
    },
  },
  {
    method: 'GET',
    path: '/assessments/:id',
    act: ({ world }, _, id) => ({ ...world.hidden(id), assessment: world.get(id) }),
  },
  {
    method: 'PATCH',
    path: '/assessments/:id',
    act: ({ world }, input, id) => world.change(id, parseRequest(changesSchema, input)),
  },
  { method: 'DELETE', path: '/assessments/:id', act: ({ world }, _, id) => world.remove(id) },
  {
    method: 'POST',
    path: '/assessments/:id/move',
    act: ({ world }, input, id) => world.moveTo(id, parseRequest(moveSchema, input).certified_on),
  },
  {
    method: 'POST',
    path: '/assessments/:id/restore',
    act: ({ world }, _, id) => world.restore(id),
  },
  {
    method: 'POST',
    path: '/assessments/:id/archive',
    act: ({ world }, _, id) => world.change(id, { status: 'archived' }),
  },
  {
    method: 'POST',
    path: '/assessments/:id/unarchive',
    act: ({ world }, _, id) => world.change(id, { status: 'active' }),
  },
  {
    method: 'POST',
    path: '/assessments/:id/spoil',
    act: ({ world }, input, id) => world.spoil(id, parseRequest(damageSchema, input)),
  },
  { method: 'POST', path: '/assessments/:id/mend', act: ({ world }, _, id) => world.mend(id) },
  {
    method: 'PATCH',
    path: '/organizations/:id',
    act: ({ world }, input, id) =>
      world.renameOrganization(id, parseRequest(renameSchema, input).name),
  },
  {
    method: 'PATCH',
    path: '/products/:id',
    act: ({ world }, input, id) => world.renameProduct(id, parseRequest(renameSchema, input).name),
  },
  {
    method: 'PUT',
    path: '/scope',
    act: ({ world }, input) => world.setScope(parseRequest(scopeSchema, input)),
  },
  {
    method: 'POST',
    path: '/scope/widen',
    act: ({ world }, input) => world.widenScope(parseRequest(scopeSchema, input)),
  },
  {
    method: 'POST',
    path: '/scope/narrow',
    act: ({ world }, input) => world.narrowScope(parseRequest(scopeSchema, input)),
  },
  { method: 'POST', path: '/secret', act: (sandbox) => sandbox.rotateSecret() },
  { method: 'GET', path: '/faults', act: ({ faults }) => faults },
  {
    method: 'POST',
    path: '/faults',
    act: (sandbox, input) =>
      // Two schemas, since the error of a union would not name the problem.
      sandbox.injectFaults(
        ...(Array.isArray(input)
          ? parseRequest(manyFaults, input)
          : [parseRequest(faultSchema, input)]),
      ),
  },
  { method: 'DELETE', path: '/faults', act: (sandbox) => sandbox.clearFaults() },
  {
    method: 'PATCH',
    path: '/switches',
    act: (sandbox, input) => {
      sandbox.set(parseRequest(switchesSchema.partial(), input));
      return sandbox.switches;
    },
  },
];

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
  const operation = operations.find((one) => one.method === method && one.path === template);
  if (operation === undefined)
    return failure(404, 'There is no such control; see docs/partner.md#control-it.');
  try {
    const input: unknown = body.trim() === '' ? {} : JSON.parse(body);
    const result = operation.act(sandbox, input, Number(id));
    return result === undefined ? { status: 204, body: undefined } : { status: 200, body: result };
  } catch (error) {
    if (error instanceof NotInWorldError) return failure(404, error.message);
    if (error instanceof SandboxRequestError) return failure(422, error.message);
    if (error instanceof SyntaxError) return failure(400, 'The body is not JSON.');
    throw error;
  }
}
