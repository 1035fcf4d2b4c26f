// In every process of `npm run test:at`: a clock that is ahead, or behind, by the query's `by`
// (milliseconds), and the query's `zone`. Timers and performance.now() stay as they are. So do times of files,
// and OpenSSL's decision whether a certificate is valid.
import { ServerResponse } from 'node:http';
import { reachEveryProcess } from './every-process.mjs';

const { searchParams } = new URL(import.meta.url);
const by = Number(searchParams.get('by'));
const zone = searchParams.get('zone') ?? 'UTC';

reachEveryProcess(import.meta.url, ({ TZ = zone }) => ({ TZ }));

const RealDate = Date;
const realNow = Date.now;
const now = () => realNow() + by;

RealDate.now = now;
const ShiftedDate = new Proxy(RealDate, {
  construct: (target, args, called) =>
    Reflect.construct(
      target,
      args.length === 0 ? [now()] : args,
      called === ShiftedDate ? target : called,
    ),
  apply: () => new RealDate(now()).toString(),
});
RealDate.prototype.constructor = ShiftedDate;
globalThis.Date = ShiftedDate;

// Node adds a Date header by the machine's clock. The AWS SDK would conclude that our clock is wrong.
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (/** @type {unknown[]} */ ...args) {
  if (this.sendDate && !this.hasHeader('date')) this.setHeader('date', new Date().toUTCString());
  return Reflect.apply(writeHead, this, args);
};

const { prototype: formats } = Intl.DateTimeFormat;
const { formatToParts } = formats;
formats.formatToParts = function (date = now()) {
  return formatToParts.call(this, date);
};
const format = Object.getOwnPropertyDescriptor(formats, 'format')?.get;
Object.defineProperty(formats, 'format', {
  configurable: true,
  get() {
    const formatted = format?.call(this);
    return (/** @type {number | Date | undefined} */ date = now()) => formatted(date);
  },
});

// Node has Temporal from version 26 on. temporal-polyfill uses Date.
if ('Temporal' in globalThis) {
  const { Instant, Now } = globalThis.Temporal;
  const zoned = (/** @type {string | undefined} */ timeZone = Now.timeZoneId()) =>
    Now.instant().toZonedDateTimeISO(timeZone);
  Object.assign(Now, {
    instant: () => Instant.fromEpochMilliseconds(now()),
    zonedDateTimeISO: zoned,
    plainDateTimeISO: (/** @type {string | undefined} */ timeZone) =>
      zoned(timeZone).toPlainDateTime(),
    plainDateISO: (/** @type {string | undefined} */ timeZone) => zoned(timeZone).toPlainDate(),
    plainTimeISO: (/** @type {string | undefined} */ timeZone) => zoned(timeZone).toPlainTime(),
  });
}
