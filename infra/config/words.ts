import * as z from 'zod';
import { looksGenerated } from '../config-error.ts';

// The kinds of settings. Each says what it allows in one place: the sentence in the error message
// ("found …; allowed: …") and in docs/configuration.md is the same.

/** A string setting; `allowed` is the end of the sentence "allowed: …". */
export const text = (allowed: string, accepts: (value: string) => boolean) =>
  z.string({ error: allowed }).refine(accepts, { error: allowed }).meta({ allowed });

/** A string setting that would carry a credential, pasted by mistake, into the template. */
export const name = (allowed: string, accepts: (value: string) => boolean) =>
  text(`${allowed}; never a credential`, (value) => accepts(value) && !looksGenerated(value));

export const whole = (what: string, min: number, max: number) => {
  const allowed = `${what}, a whole number from ${min} to ${max}`;
  // Not `z.int()`: a fraction would keep the checks across settings from running.
  return z
    .number({ error: allowed })
    .refine((value) => Number.isSafeInteger(value) && value >= min && value <= max, {
      error: allowed,
    })
    .meta({ allowed });
};

export const oneOf = <const T extends readonly string[]>(values: T) => {
  const allowed = `one of ${values.map((value) => `'${value}'`).join(', ')}`;
  return z.enum(values, { error: allowed }).meta({ allowed });
};

export const flag = () =>
  z.boolean({ error: 'true or false' }).meta({ allowed: '`true` or `false`' });

/** At least one element, none of them twice. */
export const list = <T extends z.ZodType>(element: T, allowed: string, max: number) =>
  z
    .array(element, { error: allowed })
    .min(1, { error: allowed })
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

export const record = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, { error: `an object with ${Object.keys(shape).join(', ')}` });

/** An ARN of one service, in any partition. IAM alone is in no region. */
export const arn = (service: string, resource: RegExp) => {
  const region = service === 'iam' ? '' : '[a-z0-9]+(-[a-z0-9]+)+';
  return new RegExp(`^arn:aws(-[a-z]+)*:${service}:${region}:\\d{12}:${resource.source}$`);
};

/** A KMS key; roles' policies and most services cannot name one by its alias. */
export const keyArn = () => {
  const pattern = arn('kms', /key\/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})/);
  return text('the ARN of a KMS key (not of an alias)', (value) => pattern.test(value));
};
