import type { Endpoints } from '../aws/function.ts';
import { Gate, type Reply, type ServiceCall } from '../aws/gate.ts';

const services = ['dynamodb', 'sns'] as const;
export type FaultyService = (typeof services)[number];

const writes: ReadonlySet<string> = new Set([
  'PutItem',
  'UpdateItem',
  'BatchWriteItem',
  'PublishBatch',
]);

const busy: Reply = {
  status: 503,
  type: 'text/xml',
  body: '<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Receiver</Type><Code>ServiceUnavailable</Code><Message>provoked</Message></Error><RequestId>provoked</RequestId></ErrorResponse>',
};

/** A fault that strikes one function once. */
interface Strike {
  readonly functionName: string;
  readonly hits: (call: ServiceCall) => boolean;
  /** Called after the service has carried out the request, whose answer is lost. */
  readonly after: () => unknown;
}

/** Proxies between the functions and the embedded services. They carry out the provocations. */
export class Faults implements AsyncDisposable {
  readonly #gates: Readonly<Record<FaultyService, Gate>> = {
    dynamodb: new Gate(),
    sns: new Gate(),
  };
  #strikes: readonly Strike[] = [];
  readonly #refused = new Set<string>();
  #isOpen = false;

  constructor() {
    for (const gate of Object.values(this.#gates)) gate.always((call) => this.#pass(call));
  }

  /** @returns the endpoints for the functions */
  async open(endpoints: Endpoints): Promise<Pick<Endpoints, FaultyService>> {
    const { dynamodb, sns } = this.#gates;
    this.#isOpen = true;
    dynamodb.target = endpoints.dynamodb;
    sns.target = endpoints.sns;
    return { dynamodb: await dynamodb.open(), sns: await sns.open() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOpen) await Promise.all(Object.values(this.#gates).map((gate) => gate.close()));
  }

  /** The service carries out the function's next write, but the answer is lost. */
  strikeNextWrite(
    functionName: string,
    service: FaultyService | undefined,
    after: () => unknown,
  ): void {
    const hits = ({ operation, asked }: ServiceCall) =>
      writes.has(operation) && (service === undefined || asked?.service === service);
    this.#strikes = [...this.#strikes, { functionName, hits, after }];
  }

  /** Whether a fault still waits for the function. */
  awaits(functionName: string): boolean {
    return this.#strikes.some((one) => one.functionName === functionName);
  }

  refuses(functionName: string): boolean {
    return this.#refused.has(functionName);
  }

  /** Whether SNS refuses all events of a function. */
  refuse(functionName: string, isRefused: boolean): void {
    if (isRefused) this.#refused.add(functionName);
    else this.#refused.delete(functionName);
  }

  async #pass(call: ServiceCall): Promise<Reply | undefined> {
    const { asked } = call;
    if (asked?.service === 'sns' && this.#refused.has(asked.caller)) return busy;
    const strike = this.#strikes.find(
      ({ functionName, hits }) => functionName === asked?.caller && hits(call),
    );
    if (strike === undefined) return call.forward();
    this.#strikes = this.#strikes.filter((one) => one !== strike);
    await call.forward();
    await strike.after();
    return undefined;
  }
}
