import type { Door, LocalDoor } from '../../console/door.ts';
import { type Console, DeploymentDoor, serveConsole } from '../../console/index.ts';
import type { Duty } from '../ops/duty.ts';

export interface Shown {
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

type Fields = Readonly<Record<string, string>>;

/** A reader with a browser without JavaScript. */
export class Visitor implements AsyncDisposable {
  readonly #door: Door & Partial<Disposable>;
  readonly #console: Console;

  private constructor(door: Door & Partial<Disposable>, served: Console) {
    this.#door = door;
    this.#console = served;
  }

  static async before(door: Door & Partial<Disposable>): Promise<Visitor> {
    return new Visitor(door, await serveConsole(door, 0));
  }

  /** At the console of a deployment. */
  static at(duty: Duty, local?: LocalDoor): Promise<Visitor> {
    const options = { title: duty.stack, stack: duty.stack, local: false };
    return Visitor.before(new DeploymentDoor(options, duty.host(), local));
  }

  /** The printed address. */
  get url(): string {
    return this.#console.url;
  }

  get origin(): string {
    return new URL(this.url).origin;
  }

  /** Sends one request to an address of the machine, without a browser's additions. */
  async raw(path: string, request: RequestInit = {}): Promise<Shown> {
    const answer = await fetch(new URL(path, this.origin), { redirect: 'manual', ...request });
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

  /** Fills in the first form of a page that is posted, and sends it, or to another target. */
  async sends(page: string, fields: Fields, to?: string): Promise<Shown> {
    const [form = ''] = (await this.opens(page)).text.match(postedForm) ?? [];
    const { action = page } = attributesOf(form);
    return this.#posts(to ?? action, { ...hiddenIn(form), ...fields });
  }

  /** Presses a button of a page. @param name the button's accessible name */
  async presses(page: string, name: string): Promise<Shown> {
    const { text } = await this.opens(page);
    const buttonOf = (form: string) =>
      form
        .match(/<button.*?<\/button>/gs)
        ?.find((one) => one.includes(`"${name}"`) || one.includes(`>${name}<`));
    const form = text.match(postedForm)?.find(buttonOf) ?? `no button ${name}`;
    const own = attributesOf(buttonOf(form) ?? '');
    const field = own['name'] === undefined ? {} : { [own['name']]: own['value'] ?? '' };
    const action = own['formaction'] ?? attributesOf(form)['action'] ?? form;
    return this.#posts(action, { ...hiddenIn(form), ...field });
  }

  async #posts(action: string, fields: Fields): Promise<Shown> {
    const { headers } = await this.raw(this.at(action), {
      method: 'POST',
      headers: { origin: this.origin },
      body: new URLSearchParams(fields),
    });
    return this.opens(headers.get('location') ?? action);
  }

  /** The stream of changes as it arrives, with this query. */
  async hears(query = ''): Promise<ReadableStreamDefaultReader<string>> {
    const live = new URL(`live${query}`, this.url);
    const { body } = await fetch(live, { signal: AbortSignal.timeout(20_000) });
    if (body === null) throw new Error('the stream has no body');
    return body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Reads the page again after each change, until it matches. @throws if it does not for long */
  async sees(path: string, pattern: RegExp): Promise<string> {
    const changes = await this.hears();
    for (;;) {
      const { text } = await this.opens(path);
      if (pattern.test(text)) {
        await changes.cancel();
        return text;
      }
      await changes.read().catch((cause) => {
        throw new Error(`${path} has not shown ${pattern}, but ${text}`, { cause });
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#console[Symbol.asyncDispose]();
    this.#door[Symbol.dispose]?.();
  }
}

const postedForm = /<form[^>]*method="post".*?<\/form>/gs;

/** The attributes of the first element. */
function attributesOf(text: string): Fields {
  const all = text.replace(/>.*/s, '').matchAll(/([\w-]+)="([^"]*)"/g);
  return Object.fromEntries([...all].map(([, name = '', value = '']) => [name, value]));
}

function hiddenIn(form: string): Fields {
  const all = form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...all].map(([, name = '', value = '']) => [name, value]));
}
