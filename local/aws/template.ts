import * as z from 'zod';

/** The parts of a CloudFormation template that a local run looks at. */
export const templateSchema = z.looseObject({
  Parameters: z.record(z.string(), z.looseObject({ Default: z.json().optional() })).default({}),
  Conditions: z.record(z.string(), z.json()).default({}),
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Condition: z.string().optional(),
      Properties: z.record(z.string(), z.json()).default({}),
    }),
  ),
  Outputs: z.record(z.string(), z.looseObject({ Value: z.json() })).default({}),
});

export type Template = z.infer<typeof templateSchema>;
export type Json = z.infer<ReturnType<typeof z.json>>;

/** The place where a template is "deployed": the values of its pseudo parameters. */
export interface StackPlace {
  readonly stackName: string;
  readonly region: string;
  readonly accountId: string;
  /** @default "aws" */
  readonly partition?: string;
  /** Base URL of the embedded SQS; `Ref` of a queue is a URL. */
  readonly sqsEndpoint: string;
  /** The URL of the one function that has one, without a slash at its end; undefined: none has one. */
  readonly functionUrl?: string | undefined;
}
