import * as z from 'zod';
import type { PipePlan } from '../../local/aws/interpret.ts';

/**
 * What a pipe from a queue makes of a message, by the rules that AWS documents. No library and no emulator that can be
 * had here evaluates them. Whatever they do not say is an error here, so that no template relies on it.
 *
 * "Amazon EventBridge Pipes input transformation" (EventBridge User Guide):
 *
 * 1. A variable is `<$.path>`: dots, dashes, underscores, letters, digits, slashes, array indices.
 * 2. Implicit body data parsing: where the `body` of an SQS message is JSON, a path leads into it; where not, it is text.
 * 3. In a template that is a JSON object, a variable without quotation marks is the JSON of its value: a text has its
 *    own, an object or a list is one.
 * 4. A template that is `<$.body>` alone loses the quotation marks of a JSON body, and is no JSON.
 *
 * "Amazon EventBridge Pipes targets", "Dynamic path parameters":
 *
 * 5. A parameter that is a path, as a whole, is replaced by what is there in the message; not in what the template made.
 *
 * "API_PipeTargetParameters", "API_PipeTargetEventBridgeEventBusParameters": what may be how long.
 */
const limits = { inputTemplate: 8_192, source: 256, detailType: 128 };

const path = /\$(?:\.[\w/-]+(?:\[\d+\])*)+/;
const variable = new RegExp(`<(${path.source})>`, 'g');

/** A message as a pipe gets it from a queue. */
export interface QueueMessage {
  readonly messageId: string;
  readonly body: string;
  readonly messageAttributes?: Readonly<Record<string, unknown>>;
}

/** What `PutEvents` is asked for. */
export interface BusEntry {
  readonly source: string;
  readonly detailType: string;
  readonly time: string;
  /** JSON. */
  readonly detail: string;
}

/** @throws Error where AWS would refuse it, or does not say what it does */
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
  // Quotation marks around a variable: AWS's page says both that texts need them, and shows that they do not.
  const texts = template.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  if (texts.some((one) => one.includes('<$')))
    throw new Error('a variable stands in quotation marks');
  const made = template.replace(variable, (_, found: string) => JSON.stringify(at(payload, found)));
  if (/<[$a-z]/.test(template.replace(variable, ''))) throw new Error('a variable is no path');
  return made;
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

/** @throws Error where there is nothing: AWS does not say what becomes of the variable */
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
