import { allowedIn, configurationSetting, type Setting, written } from './configuration-page.ts';

const path = 'infra/config/input.ts';

/** The configuration's type, with the texts that an editor shows. Zod's own type has none. */
export function configurationTypes(): ReadonlyMap<string, string> {
  const text = `/** A notifier in a stack of its own, as \`notifier.config.ts\` has it. */
export interface NotifierConfigInput ${members(configurationSetting())}
`;
  return new Map([[path, text]]);
}

function members({ properties = {}, required = [] }: Setting): string {
  const lines = Object.entries(properties).map(([name, one]) => {
    const isRequired = required.includes(name);
    const type = isRequired
      ? `: ${typeOf(one)}`
      : `?: ${one.not ? '' : `${typeOf(one)} | `}undefined`;
    return `/**\n${said(one, isRequired).join('\n')}\n*/\nreadonly ${name}${type};`;
  });
  return ['{', ...lines, '}'].join('\n');
}

/** The lines that an editor shows. */
function said(setting: Setting, isRequired: boolean): string[] {
  const { description, not } = setting;
  const allowed = allowedIn(setting);
  return [
    ...(description ? [description] : []),
    ...(not ? ['Not with this protocol.'] : []),
    ...(allowed ? [`Allowed: ${allowed}.`] : []),
    ...(isRequired ? [] : [`@default ${withoutIt(setting)}`]),
  ];
}

function withoutIt({ default: fallback, properties }: Setting): string {
  if (fallback === undefined) return '- none';
  return written(fallback) ?? (properties ? '- the defaults of its settings' : '{}');
}

function typeOf(setting: Setting): string {
  const { enum: values, oneOf, anyOf = oneOf, items, properties, type = '' } = setting;
  const { const: only, additionalProperties } = setting;
  if (only !== undefined) return written(only) ?? type;
  if (values) return values.map((value) => written(value)).join(' | ');
  if (anyOf) return anyOf.map(typeOf).join(' | ');
  if (items) return `readonly (${typeOf(items)})[]`;
  if (properties) return members(setting);
  if (additionalProperties) return `Readonly<Record<string, ${typeOf(additionalProperties)}>>`;
  return type;
}
