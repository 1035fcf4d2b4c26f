import * as z from 'zod';
import type { PipePlan } from '../../local/aws/interpret.ts';

/**
 * The result of a pipe from a queue, by AWS's documented rules. No available library or emulator
 * evaluates them. Cases that the rules leave open are errors here, so no template relies on them.
 *
 * "Amazon EventBridge Pipes input transformation" (EventBridge User Guide):
 *
 * 1. A variable is `<$.path>`: dots, dashes, underscores, letters, digits, slashes, array indices.
 * 2. Implicit body data parsing: where the `body` of an SQS message is JSON, a path leads into it.
 *    Other bodies are text.
 * 3. In a template that is a JSON object, a variable without quotation marks becomes the JSON of
 *    its value: a text with its quotation marks, an object or a list as it is.
 * 4. A template that is `<$.body>` alone loses the quotation marks of a JSON body, and is no JSON.
 *
 * "Amazon EventBridge Pipes targets", "Dynamic path parameters":
 *
 * 5. A parameter that is a path as a whole is replaced by the value in the SQS message, not in the
 *    template's result.
 *
 * "API_PipeTargetParameters", "API_PipeTargetEventBridgeEventBusParameters": the limits of lengths.
 *
 * The size of an event on the bus is not computed: of the largest messages, tests know the body only.
 */
const limits = { inputTemplate: 8_192, source: 256, detailType: 128 };

const path = /\$(?:\.[\w/-]+(?:\[\d+\])*)+/;
const variable = new RegExp(`<(${path.source})>`, 'g');

/** An SQS message as a pipe gets it from a queue. */
export interface QueueMessage {
  readonly messageId: string;
  readonly body: string;
  readonly messageAttributes?: Readonly<Record<string, unknown>>;
}

/** An entry of a `PutEvents` request. */
export interface BusEntry {
  readonly source: string;
  readonly detailType: string;
  readonly time: string;
  /** JSON. */
  readonly detail: string;
}

/** @throws Error where AWS would refuse it, or does not document the result */
export function busEntry({ inputTemplate, eventBus }: PipePlan, message: QueueMessage): BusEntry {
  if (eventBus === undefined) throw new Error('the pipe does not lead to a bus');
  const payload = parsed(message);
  const parameter = (value: string, max = Number.POSITIVE_INFINITY) => {
    if (!new RegExp(`^${path.source}$`).test(value)) throw new Error(`${value} is no path`);
    const found = z.string().min(1).max(max).parse(at(payload, value));
    return found;
  };
  const detail = transformed(inputTemplate, message);
  z.record(z.string(), z.json()).parse(JSON.parse(detail));
  return {
    source: parameter(eventBus.Source, limits.source),
    detailType: parameter(eventBus.DetailType, limits.detailType),
    time: parameter(eventBus.Time),
    detail,
  };
}

/** The input of a target. @throws Error as above */
export function transformed(template: string, message: QueueMessage): string {
  if (template.length > limits.inputTemplate) throw new Error('the template is too long');
  const payload = parsed(message);
  const [whole = '', alone] = /^<(.+)>$/.exec(template) ?? [];
  if (whole !== '' && alone !== undefined) {
    const value = at(payload, alone);
    return typeof value === 'string' ? value : JSON.stringify(value).replaceAll('"', '');
  }
  // AWS's page contradicts itself about quotation marks around a variable: it requires them for
  // texts, and its example has none.
  const texts = template.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  if (texts.some((one) => one.includes('<$')))
    throw new Error('a variable stands in quotation marks');
  const made = template.replace(variable, (_, found: string) => inserted(at(payload, found)));
  if (/<[$a-z]/.test(template.replace(variable, ''))) throw new Error('a variable is no path');
  return made;
}

/** AWS: "values aren't escaped" in a text; an object stands as its JSON. @throws Error where a text needs it */
function inserted(value: unknown): string {
  if (typeof value === 'string' && /["\\]/.test(value))
    throw new Error('a text has a sign that AWS would not escape');
  return JSON.stringify(value);
}

/** Of `PutEvents`: "Calculating PutEvents event entry size". */
export function entrySize({ source, detailType, detail }: BusEntry): number {
  return 14 + [source, detailType, detail].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
}

function parsed(message: QueueMessage): unknown {
  try {
    return { ...message, body: JSON.parse(message.body) };
  } catch {
    return message;
  }
}

/** @throws Error where the path leads to nothing: AWS leaves the variable out, and the JSON is broken */
function at(payload: unknown, place: string): unknown {
  const steps = place
    .slice('$.'.length)
    .split(/[.[\]]+/)
    .filter((step) => step !== '');
  const found = steps.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined,
    payload,
  );
  if (found === undefined) throw new Error(`nothing is at ${place}`);
  return found;
}
