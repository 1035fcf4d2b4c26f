import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod';
import type { LocalPlan } from './interpret.ts';

const asked = z.object({ KeyId: z.string() });

const shown: Readonly<Record<string, (key: LocalPlan['keys'][number]) => object>> = {
  'TrentService.DescribeKey': ({ arn }) => ({
    KeyMetadata: { KeyId: arn.split('/').at(-1), Arn: arn, KeyState: 'Enabled' },
  }),
  'TrentService.GetKeyPolicy': ({ policy }) => ({ Policy: policy, PolicyName: 'default' }),
};

/**
 * A stand-in for AWS KMS (AWS JSON 1.1): DescribeKey and GetKeyPolicy, by ARN. Nothing is encrypted. Signatures are
 * not checked.
 */
export function keyService(keys: LocalPlan['keys']): Server {
  return createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response
        .writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
        .end(JSON.stringify(body));
    const show = shown[String(request.headers['x-amz-target'])];
    if (show === undefined) {
      answer(400, { __type: 'UnknownOperationException' });
      return;
    }
    const { data } = asked.safeParse(await json(request).catch(() => undefined));
    const found = keys.find(({ arn }) => arn === data?.KeyId);
    if (found === undefined) answer(400, { __type: 'NotFoundException' });
    else answer(200, show(found));
  });
}
