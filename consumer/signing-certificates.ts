import { X509Certificate } from 'node:crypto';
import { SnsMessageRefusedError, SnsUnreachableError } from './errors.ts';
import { originOfSns } from './sns-origin.ts';
import { askSns, type Fetch } from './sns-request.ts';

/** AWS's names of certificates, in all its regions. The topic says which host may have them. */
const certificatePath = /^SimpleNotificationService-[a-zA-Z0-9]{32}\.pem$/;

/** AWS has about one a region and year; a forger could name others, which must not fill the memory. */
const maxKept = 50;
/** A certificate has about 2,000. */
const maxBytes = 16_384;

/**
 * The certificates that SNS signs with, each downloaded once. Only a download that is a certificate
 * stays: an error page would let every later message fail.
 */
export class SigningCertificates {
  readonly #fetch: Fetch;
  readonly #kept = new Map<string, Promise<string>>();

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /**
   * @param topicArn of the message that names the certificate
   * @returns the certificate as PEM
   * @throws SnsMessageRefusedError if the URL is not one of SNS's in the topic's region,
   * SnsUnreachableError
   */
  async at(url: string, topicArn: string): Promise<string> {
    const place = `${originOfSns(topicArn)}/`;
    if (!url.startsWith(place) || !certificatePath.test(url.slice(place.length)))
      throw new SnsMessageRefusedError('certificate-url');
    const kept = this.#kept.get(url);
    if (kept !== undefined) return kept;
    const download = this.#download(url);
    this.#kept.set(url, download);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
    download.catch(() => this.#kept.delete(url));
    return download;
  }

  async #download(url: string): Promise<string> {
    const pem = await askSns(this.#fetch, url, 'certificate', maxBytes);
    try {
      return new X509Certificate(pem).toString();
    } catch (cause) {
      throw new SnsUnreachableError('certificate', { cause });
    }
  }
}
