import * as z from 'zod/mini';
import { inEnglish } from '../lambda/english.ts';
import {
  type CertificationEvent,
  certificationEventSchema,
  eventSchemaId,
} from '../lambda/events/event.ts';
import { NotAnEventError } from './errors.ts';

/**
 * An event of a later version of certification-notifier than this code: acknowledge it, or update.
 * It has all that is needed to handle it once and in order.
 */
export interface UnknownEvent {
  readonly type: 'unknown';
  /** The type it was sent with. */
  readonly announced: string;
  readonly id: string;
  readonly source: string;
  readonly subject: string;
  readonly sequence: string;
  /** The whole event, unchecked. */
  readonly event: Readonly<Record<string, unknown>>;
}

/** An event as a subscriber receives it; `type` tells the kinds apart. */
export type ReceivedEvent = CertificationEvent | UnknownEvent;

/** SNS in SQS in a Lambda record is three; more is somebody's own wrapping. */
const maxWrappings = 8;
/** A list of parts could be wrong in thousands of places. */
const maxProblems = 10;

const [{ shape: known }] = certificationEventSchema.def.options;
const knownTypes: ReadonlySet<string> = new Set(
  certificationEventSchema.def.options.flatMap(({ shape }) => shape.type.def.values),
);

/** The fields that every version has. */
const anyVersionSchema = z.looseObject({
  specversion: known.specversion,
  type: z.string(),
  id: known.id,
  source: known.source.check(z.startsWith('urn:certification-notifier:')),
  subject: known.subject,
  sequence: known.sequence,
  dataschema: z.string(),
});

/**
 * The event in a message, in any known wrapping: the body of an SQS message (raw or in SNS's
 * envelope) or the whole message, an SQS or SNS record of a Lambda invocation, an event of
 * EventBridge, the body of an HTTPS request (text, bytes or parsed), or the event itself. Unknown fields stay.
 *
 * Numbers are those of JavaScript: an undocumented one beyond 2^53 or with a final zero loses digits
 * that the text has.
 *
 * It does not look at signatures: a body that came over HTTPS goes through `verifySnsMessage`
 * first.
 *
 * @throws NotAnEventError for anything else; its text has nothing of the input
 */
export function parseEvent(message: unknown): ReceivedEvent {
  const event = unwrapped(message);
  const envelope = anyVersionSchema.safeParse(event, inEnglish);
  if (!envelope.success) throw notAnEvent(envelope.error);
  const { type, id, source, subject, sequence, dataschema } = envelope.data;
  if (!knownTypes.has(type) || dataschema !== eventSchemaId)
    return {
      type: 'unknown',
      announced: type,
      id,
      source,
      subject,
      sequence,
      event: envelope.data,
    };
  if (isCertificationEvent(event)) return event;
  throw notAnEvent(certificationEventSchema.safeParse(event, inEnglish).error);
}

/** A guard, and not the parsed value: that lacks the fields which this version does not know. */
function isCertificationEvent(value: unknown): value is CertificationEvent {
  return certificationEventSchema.safeParse(value).success;
}

function unwrapped(message: unknown): unknown {
  let content = message;
  for (let wrappings = 0; wrappings <= maxWrappings; wrappings += 1) {
    if (typeof content === 'object' && content !== null && 'specversion' in content) return content;
    content = contentOf(content);
  }
  throw new NotAnEventError(['wrapped too often']);
}

const isText = (value: unknown) => typeof value === 'string';

/** Where a wrapping has its content. */
const wrappings: readonly (readonly [field: string, isContent: (value: unknown) => boolean])[] = [
  // SNS's envelope, in a queue, an HTTPS body or within `Sns`.
  ['Message', isText],
  // A Lambda record: of SNS, of SQS. Then a message as SQS's API returns it.
  ['Sns', () => true],
  ['body', isText],
  ['Body', isText],
  // EventBridge's envelope, as a rule's target gets it.
  ['detail', () => true],
];

/** The content without its outermost wrapping. */
function contentOf(content: unknown): unknown {
  if (typeof content === 'string') return parsedJson(content);
  if (content instanceof Uint8Array) return textOf(content);
  if (typeof content !== 'object' || content === null)
    throw new NotAnEventError(['no JSON object']);
  for (const [field, isContent] of wrappings) {
    const value: unknown = Reflect.get(content, field);
    if (field in content && isContent(value)) return value;
  }
  throw new NotAnEventError([
    'Records' in content
      ? 'a whole invocation; each of its Records is a message'
      : 'no specversion, and no wrapping that is known',
  ]);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the cause: a SyntaxError quotes its input.
    throw new NotAnEventError(['no JSON']);
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new NotAnEventError(['no UTF-8'], { cause });
  }
}

function notAnEvent(error: z.core.$ZodError | undefined): NotAnEventError {
  return new NotAnEventError(
    (error?.issues ?? [])
      .slice(0, maxProblems)
      .map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`),
  );
}
