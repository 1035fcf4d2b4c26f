import { BlockList } from 'node:net';
import * as z from 'zod';
import { isCredential, looksGenerated } from '../config-error.ts';

// The kinds of settings. Each has one sentence for its allowed values, which is the same in the error ("found …;
// allowed: …") and in docs/configuration.md.

/** A string setting; `allowed` is the end of the sentence "allowed: …". */
export const text = (allowed: string, accepts: (value: string) => boolean) =>
  z.string({ error: allowed }).refine(accepts, { error: allowed }).meta({ allowed });

/** A string setting that refuses a credential, which would otherwise get into the template. */
export const name = (allowed: string, accepts: (value: string) => boolean) =>
  text(
    `${allowed}; never a credential`,
    (value) => accepts(value) && !isCredential(value) && !looksGenerated(value),
  );

/** The same where hashes of commits, UUIDs and ARNs are usual values. */
export const label = (allowed: string, accepts: (value: string) => boolean) =>
  text(
    `${allowed}; never a credential`,
    (value) =>
      accepts(value) &&
      !isCredential(value) &&
      (/^([0-9a-f-]+$|arn:)/i.test(value) || !looksGenerated(value)),
  );

/** The name of an integration or of a new queue; the names of outputs are made of it. */
export const shortName = name(
  'lower-case letters, digits and single hyphens, starting with a letter, at most 40 characters',
  (value) => value.length <= 40 && /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(value),
);

export const whole = (what: string, min: number, max: number) => {
  const allowed = `${what}, a whole number from ${min} to ${max}`;
  // Not `z.int()`: for a fraction, it would keep the checks of combinations from running.
  return z
    .number({ error: allowed })
    .refine((value) => Number.isSafeInteger(value) && value >= min && value <= max, {
      error: allowed,
    })
    .meta({ allowed });
};

export const oneOf = <const T extends readonly string[]>(
  values: T,
  allowed = `one of ${values.map((value) => `'${value}'`).join(', ')}`,
) => z.enum(values, { error: allowed }).meta({ allowed });

export const flag = () =>
  z.boolean({ error: 'true or false' }).meta({ allowed: '`true` or `false`' });

/** At least one element, or `min`, and none of them twice. */
export const list = <T extends z.ZodType>(element: T, allowed: string, max: number, min = 1) =>
  z
    .array(element, { error: allowed })
    .min(min, { error: allowed })
    .max(max, { error: `at most ${max}` })
    .superRefine((values, problems) => {
      values.forEach((value, index) => {
        if (values.indexOf(value) < index)
          problems.addIssue({
            code: 'custom',
            path: [index],
            message: 'a value that the list does not have yet',
          });
      });
    })
    .meta({ allowed });

/** A setting that only other members of a union have. */
export const absent = (allowed: () => string) => z.never({ error: allowed }).optional();
export const isAbsent = (schema: unknown) =>
  schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodNever;

export const record = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, {
    // The fields of the present shape, also after the object was extended.
    error: ({ inst }) => {
      const present = Object.entries(inst instanceof z.ZodObject ? inst.shape : shape);
      const settings = present.flatMap(([name, schema]) => (isAbsent(schema) ? [] : name));
      return `an object with ${settings.join(', ')}`;
    },
  });

/** For a check of a combination: it runs also beside settings that are wrong, so that one run reports all problems. */
export const anyObject: Pick<z.core.$ZodCustomParams, 'when'> = {
  when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** An ARN of one service, in any partition. Only IAM's ARNs have no region. */
export const arn = (service: string, resource: RegExp) => {
  const region = service === 'iam' ? '' : '[a-z0-9]+(-[a-z0-9]+)+';
  return new RegExp(`^arn:aws(-[a-z]+)*:${service}:${region}:\\d{12}:${resource.source}$`);
};

/**
 * Fits, or cannot be judged yet. In a foreign stack, people write `topic.topicArn`, for which the CDK puts a token
 * until CloudFormation knows the value.
 */
export const fitsOrIsDeferred = (pattern: RegExp) => (value: string) =>
  pattern.test(value) || isDeferred(value);

export const isDeferred = (value: string) => /\$\{Token\[[\w:.-]+\]\}/.test(value);

/** Whether a URL names this machine. @throws TypeError no URL */
export const isLoopback = (url: string) =>
  /^(localhost\.?|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

// IANA's special-purpose address registries: addresses that no router of the internet forwards.
const unrouted = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  unrouted.addSubnet(network, bits, 'ipv4');
unrouted.addSubnet('::', 127, 'ipv6');
unrouted.addSubnet('fc00::', 7, 'ipv6');
unrouted.addSubnet('fe80::', 10, 'ipv6');

/** Whether a URL names an address that AWS cannot reach over the internet. @throws TypeError no URL */
export const isUnrouted = (url: string) => {
  const { hostname } = new URL(url);
  return (
    isLoopback(url) ||
    unrouted.check(hostname, 'ipv4') ||
    unrouted.check(hostname.replace(/^\[|\]$/g, ''), 'ipv6')
  );
};

/** @returns false also for an ARN whose end the CDK does not know yet */
export const isAliasArn = (value: string) => value.includes(':alias/');

/** A KMS key; roles' policies and most services cannot name one by its alias. */
export const keyArn = () => {
  const pattern = arn('kms', /key\/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})/);
  return text(
    'the ARN of a KMS key (not of an alias)',
    (value) => fitsOrIsDeferred(pattern)(value) && !isAliasArn(value),
  );
};
