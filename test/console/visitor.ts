import { type Console, DeploymentDoor, type LocalDoor, serveConsole } from '../../console/index.ts';
import type { Duty } from '../ops/duty.ts';

interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Shown {
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A reader with a browser without JavaScript, at the console of a deployment. */
export class Visitor implements AsyncDisposable {
  readonly #door: DeploymentDoor;
  readonly #console: Console;

  private constructor(door: DeploymentDoor, served: Console) {
    this.#door = door;
    this.#console = served;
  }

  static async at(duty: Duty, local?: LocalDoor): Promise<Visitor> {
    const options = { title: duty.stack, stack: duty.stack, local: false };
    const door = new DeploymentDoor(options, duty.host(), local);
    return new Visitor(door, await serveConsole(door, 0));
  }

  /** The printed address. */
  get url(): string {
    return this.#console.url;
  }

  get origin(): string {
    return new URL(this.url).origin;
  }

  /** Sends one request to an address of the machine, without a browser's additions. */
  async raw(path: string, { method = 'GET', headers = {}, body }: Request = {}): Promise<Shown> {
    const answer = await fetch(new URL(path, this.origin), {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    return { path, status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  /** The whole path of a page. */
  at(page: string): string {
    return new URL(page, this.url).pathname + new URL(page, this.url).search;
  }

  /** Opens a page of the console, and follows redirects. */
  async opens(page: string): Promise<Shown> {
    const shown = await this.raw(this.at(page));
    const next = shown.headers.get('location');
    return next === null ? shown : this.opens(next);
  }

  /**
   * Fills in the form of a page, and sends it as a browser does. @param to the target, on a page
   * with several forms
   */
  async sends(page: string, fields: Readonly<Record<string, string>>, to?: string): Promise<Shown> {
    const { text } = await this.opens(page);
    const run = /name="run" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const action = to ?? /<form[^>]+method="post" action="([^"]+)"/.exec(text)?.[1] ?? page;
    return this.#posts(action, { run, ...fields });
  }

  /** Presses a button of a page, whose form has the other fields. @param name the button's accessible name */
  async presses(page: string, name: string): Promise<Shown> {
    const { text } = await this.opens(page);
    const forms = text.matchAll(/<form[^>]+method="post" action="([^"]+)"[^>]*>(.*?)<\/form>/gs);
    for (const [, action = '', content = ''] of forms)
      for (const [, attributes = '', label = ''] of content.matchAll(
        /<button([^>]*)>(.*?)<\/button>/gs,
      )) {
        const said = attributesOf(attributes);
        if ((said['aria-label'] ?? label) !== name) continue;
        const hidden = [...content.matchAll(/<input type="hidden"([^>]*)>/g)].map(([, one = '']) =>
          attributesOf(one),
        );
        const fields = [...hidden, said].flatMap(({ name, value = '' }): [string, string][] =>
          name === undefined ? [] : [[name, value]],
        );
        return this.#posts(said['formaction'] ?? action, Object.fromEntries(fields));
      }
    throw new Error(`${page} has no button ${name}, but ${text}`);
  }

  async #posts(action: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
    const { headers } = await this.raw(this.at(action), {
      method: 'POST',
      headers: {
        origin: this.origin,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(fields).toString(),
    });
    return this.opens(headers.get('location') ?? action);
  }

  /** Reads the page again after each change, until it matches. @throws if it does not for long */
  async sees(path: string, pattern: RegExp): Promise<string> {
    const ending = AbortSignal.timeout(20_000);
    const stream = await fetch(new URL('live', this.url), { signal: ending });
    const changes = stream.body?.getReader();
    let text = '';
    try {
      for (;;) {
        ({ text } = await this.opens(path));
        if (pattern.test(text)) return text;
        await changes?.read();
      }
    } catch (cause) {
      throw new Error(`${path} has not shown ${pattern}, but ${text}`, { cause });
    } finally {
      await changes?.cancel().catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#console[Symbol.asyncDispose]();
    this.#door[Symbol.dispose]();
  }
}

function attributesOf(text: string): Readonly<Record<string, string>> {
  const all = text.matchAll(/([\w-]+)="([^"]*)"/g);
  return Object.fromEntries([...all].map(([, name = '', value = '']) => [name, value]));
}
