import { describe, expect, expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import type { deployment } from '../../infra/config/deployment.ts';
import type { NotifierConfigInput } from '../../infra/config/input.ts';
import { documentedSettings } from '../../scripts/configuration-page.ts';
import { configurationTypes } from '../../scripts/configuration-types.ts';

type Unchanging<T> = T extends readonly (infer Element)[]
  ? readonly Unchanging<Element>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanging<T[Key]> }
    : T;
type Accepted = z.input<typeof deployment>;

const [types = ''] = configurationTypes().values();

describe('the types of the configuration', () => {
  it("accept the schema's values and no others, by the compiler", () => {
    expectTypeOf<Accepted>().toExtend<NotifierConfigInput>();
    expectTypeOf<NotifierConfigInput>().toExtend<Unchanging<Accepted>>();
  });

  it('have the allowed values and the default of each setting for editors', () => {
    const settings = documentedSettings();
    const told = [...types.matchAll(/\*\/\n +readonly (\w+)(\??):/g)].map(([, name]) => name);
    expect(told.toSorted()).toEqual(settings.map(({ path }) => path.split('.').at(-1)).toSorted());
    const optional = settings.filter(({ required }) => !required);
    expect(types.match(/@default \S/g)).toHaveLength(optional.length);
  });
});
