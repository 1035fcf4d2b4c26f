import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/**
 * Replaces `sns.us-east-1.amazonaws.com` for a process with this environment. It works behind a
 * proxy, over TLS, with a certificate that only that process trusts. It serves scripted answers.
 */
export class SnsHost {
  /** Each connected host, and each requested URL. */
  readonly asked: string[] = [];
  /** By path and query. */
  readonly answers = new Map<string, string>();
  readonly #sockets = new Set<Socket>();
  #servers: Server[] = [];
  #folder = '';
  environment: Record<string, string> = {};

  async open(): Promise<void> {
    const host = 'sns.us-east-1.amazonaws.com';
    const { cert, private: key } = await generate([{ name: 'commonName', value: host }], {
      algorithm: 'sha256',
      // OpenSSL uses the machine's clock, not the clock of the tests.
      notBeforeDate: new Date('2020-01-01'),
      notAfterDate: new Date('2049-01-01'),
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: host }] },
      ],
    });
    const sns = createTlsServer({ cert, key }, (request, response) => {
      this.asked.push(`https://${request.headers.host}${request.url}`);
      const answer = this.answers.get(request.url ?? '');
      response.writeHead(answer === undefined ? 403 : 200).end(answer);
    });
    const proxy = createServer();
    proxy.on('connect', (request, client: Socket) => {
      this.asked.push(`${request.url}`);
      const upstream = connect(portOf(sns), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        client.pipe(upstream).pipe(client);
      });
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
      }
    });
    this.#servers = [sns, proxy];
    for (const server of this.#servers) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    this.#folder = await mkdtemp(join(tmpdir(), 'sns-host-'));
    const trusted = join(this.#folder, 'trusted.pem');
    await writeFile(trusted, cert);
    this.environment = {
      NODE_EXTRA_CA_CERTS: trusted,
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`,
      https_proxy: `http://127.0.0.1:${portOf(proxy)}`,
      NO_PROXY: '',
      no_proxy: '',
    };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function portOf(server: Server): number {
  const { port } = server.address() as AddressInfo;
  return port;
}
