import * as z from 'zod';
import { TemplateNotUnderstoodError } from './errors.ts';
import { hasLocalMeaning, type Identity, identify, nameProperties } from './identities.ts';
import type { Json, StackPlace, Template } from './template.ts';

const equals = z.strictObject({ 'Fn::Equals': z.tuple([z.json(), z.json()]) });

/** Resolves a template's intrinsic functions to their values in `place`. */
export class Resolver {
  readonly #template: Template;
  readonly #place: StackPlace;
  readonly #pseudoParameters: ReadonlyMap<string, string>;
  readonly #identities = new Map<string, Identity>();

  constructor(template: Template, place: StackPlace) {
    this.#template = template;
    this.#place = place;
    const { stackName, region, accountId, partition = 'aws' } = place;
    this.#pseudoParameters = new Map([
      ['AWS::AccountId', accountId],
      ['AWS::Partition', partition],
      ['AWS::Region', region],
      ['AWS::StackId', `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`],
      ['AWS::StackName', stackName],
      ['AWS::URLSuffix', 'amazonaws.com'],
    ]);
  }

  /**
   * @param at the place of the value, for errors
   * @returns undefined for `AWS::NoValue`: the property counts as absent
   * @throws TemplateNotUnderstoodError
   */
  resolve(value: Json, at: string): Json | undefined {
    if (Array.isArray(value)) {
      return value
        .map((element, index) => this.resolve(element, `${at}[${index}]`))
        .filter((element) => element !== undefined);
    }
    if (typeof value === 'string' && value.includes('{{resolve:')) {
      throw new TemplateNotUnderstoodError(at, 'a dynamic reference ({{resolve:…}})');
    }
    if (value === null || typeof value !== 'object') return value;
    const [[key, argument] = ['', null], ...others] = Object.entries(value);
    if (others.length === 0 && (key === 'Ref' || key.startsWith('Fn::'))) {
      return this.#intrinsic(key, argument, `${at}.${key}`);
    }
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, part]) => {
        const resolved = this.resolve(part, `${at}.${name}`);
        return resolved === undefined ? [] : [[name, resolved]];
      }),
    );
  }

  /** The name and the ARNs of a resource of this template. @throws TemplateNotUnderstoodError */
  identity(logicalId: string, at = logicalId): Identity {
    const known = this.#identities.get(logicalId);
    if (known) return known;
    const resource = this.#template.Resources[logicalId];
    if (!resource) throw new TemplateNotUnderstoodError(at, `no resource is called ${logicalId}`);
    const { Type: type, Properties: properties } = resource;
    if (hasLocalMeaning(type) && !nameProperties.has(type)) {
      throw new TemplateNotUnderstoodError(logicalId, `resource type ${type}`);
    }
    const identity = identify(type, this.#nameOf(logicalId, type, properties), this.#place);
    this.#identities.set(logicalId, identity);
    return identity;
  }

  /** CloudFormation's own name for a resource without one in the template: stack and logical id. */
  #nameOf(logicalId: string, type: string, properties: Readonly<Record<string, Json>>): string {
    const property = nameProperties.get(type);
    const given = property === undefined ? undefined : properties[property];
    if (property !== undefined && given !== undefined) {
      return this.#string(given, `${logicalId}.${property}`);
    }
    const isFifo = properties.FifoTopic === true || properties.FifoQueue === true;
    return `${this.#place.stackName}-${logicalId}${isFifo ? '.fifo' : ''}`;
  }

  #intrinsic(name: string, argument: Json, at: string): Json | undefined {
    switch (name) {
      case 'Ref':
        return this.#ref(this.#string(argument, at), at);
      case 'Fn::GetAtt': {
        const [logicalId = '', ...path] =
          typeof argument === 'string' ? argument.split('.') : this.#strings(argument, at);
        return this.#attribute(logicalId, path.join('.'), at);
      }
      case 'Fn::Join': {
        const [separator, parts] = this.#list(argument, at);
        return this.#strings(parts ?? null, at).join(this.#string(separator ?? null, at));
      }
      case 'Fn::Split': {
        const [separator, text] = this.#list(argument, at);
        return this.#string(text ?? null, at).split(this.#string(separator ?? null, at));
      }
      case 'Fn::Select': {
        const [index, choices] = this.#list(argument, at);
        const chosen = this.#list(choices ?? null, at)[Number(index)];
        if (chosen === undefined) throw new TemplateNotUnderstoodError(at, 'no such element');
        return this.resolve(chosen, at);
      }
      case 'Fn::If':
        return this.#chosen(Array.isArray(argument) ? argument : [], at);
      case 'Fn::Sub':
        return this.#substitute(argument, at);
      default:
        throw new TemplateNotUnderstoodError(at, `intrinsic function ${name}`);
    }
  }

  #chosen([condition = null, yes = null, no = null]: readonly Json[], at: string) {
    return this.resolve(this.#holds(this.#string(condition, at), at) ? yes : no, at);
  }

  /** Evaluates conditions that compare two values; nothing here depends on others. */
  #holds(condition: string, at: string): boolean {
    const expression = this.#template.Conditions[condition];
    const { data: compared } = equals.safeParse(expression);
    if (compared === undefined) throw new TemplateNotUnderstoodError(at, `condition ${condition}`);
    const [one, other] = compared['Fn::Equals'].map((value) => this.#string(value, at));
    return one === other;
  }

  #ref(name: string, at: string): Json | undefined {
    if (name === 'AWS::NoValue') return undefined;
    const pseudo = this.#pseudoParameters.get(name);
    if (pseudo !== undefined) return pseudo;
    const parameter = this.#template.Parameters[name];
    if (!parameter) return this.identity(name, at).ref;
    if (parameter.Default === undefined) {
      throw new TemplateNotUnderstoodError(at, `parameter ${name} has no default`);
    }
    return parameter.Default;
  }

  #attribute(logicalId: string, attribute: string, at: string): string {
    const value = this.identity(logicalId, at).attributes[attribute];
    if (value === undefined) {
      const type = this.#template.Resources[logicalId]?.Type;
      throw new TemplateNotUnderstoodError(at, `attribute ${attribute} of a ${type}`);
    }
    return value;
  }

  #substitute(argument: Json, at: string): string {
    const [text = null, variables = {}] = Array.isArray(argument) ? argument : [argument];
    if (typeof text !== 'string') throw new TemplateNotUnderstoodError(at, 'no text to fill in');
    return text.replace(/\$\{(!?)([^}]*)\}/g, (_, literal: string, expression: string) => {
      if (literal) return `\${${expression}}`;
      const own = Object.entries(variables ?? {}).find(([name]) => name === expression)?.[1];
      if (own !== undefined) return this.#string(own, at);
      const [logicalId = '', ...path] = expression.split('.');
      if (path.length > 0) return this.#attribute(logicalId, path.join('.'), at);
      return this.#string(this.#ref(expression, at) ?? '', at);
    });
  }

  #string(value: Json, at: string): string {
    const resolved = this.resolve(value, at);
    if (typeof resolved === 'string') return resolved;
    if (typeof resolved === 'number' || typeof resolved === 'boolean') return String(resolved);
    throw new TemplateNotUnderstoodError(at, 'text was expected here');
  }

  #list(value: Json, at: string): Json[] {
    const resolved = this.resolve(value, at);
    if (Array.isArray(resolved)) return resolved;
    throw new TemplateNotUnderstoodError(at, 'a list was expected here');
  }

  #strings(value: Json, at: string): string[] {
    return this.#list(value, at).map((element) => this.#string(element, at));
  }
}
