import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { Screen } from '../../support/running.ts';
import type { Desk } from '../desk.ts';
import type { Running } from '../program-runner.ts';

/** A stream with a program's output, which a reader can follow. */
class Piped extends Screen {
  readonly read = new PassThrough();

  override _write(chunk: Buffer, encoding: string, done: () => void): void {
    this.read.write(chunk);
    super._write(chunk, encoding, done);
  }
}

/** The SDK's own client, connected to the streams of a program in this process. */
export class Assistant {
  readonly client = new Client({ name: 'assistant', version: '1.0.0' });
  readonly program: Running;
  readonly #output = new Piped(false);

  constructor(desk: Pick<Desk, 'start'>, options = '') {
    this.program = desk.start(`mcp${options}`, { output: this.#output });
  }

  /** A client's transport is a server's with swapped streams. */
  async connect(): Promise<this> {
    await this.client.connect(new StdioServerTransport(this.#output.read, this.program.input));
    return this;
  }

  async call(name: string, args: Record<string, unknown> = {}) {
    const result = await this.client.callTool({ name, arguments: args });
    const { content, structuredContent: structured, isError = false } = result;
    const text = content.map((one) => (one.type === 'text' ? one.text : one.type)).join();
    return { text, structured, isError };
  }

  /** Ends the input, as assistants do. */
  async end() {
    this.program.input.end();
    return this.program.ended;
  }
}
