import * as z from 'zod';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import { certificateYears } from '../../lambda/commands/prove.ts';
import { daysOf, prove } from '../../ops/commands/prove.ts';
import { UsageError } from '../../ops/errors.ts';
import type { Tone, View } from '../../ops/render/layout.ts';
import {
  countedCertificate,
  proofTold,
  proveColumns,
  proveCsv,
  proveRows,
  proveVerdict,
} from '../../ops/render/prove.ts';
import { amount, count, marked } from '../../ops/render/text.ts';
import { moment } from '../../ops/render/time.ts';
import { heatMap, heatMapKey, type Mark, type MarkedDay } from '../charts/heat-map.ts';
import { addressOf, commandForm, hiddenFields } from '../command-form.ts';
import type { Door } from '../door.ts';
import { settingsGiven } from '../forms.ts';
import { type Html, live, table, toned } from '../html.ts';
import { pathOf } from '../layout.ts';
import { html } from '../library.ts';
import type { ConsolePage, Download, PageRequest } from '../page.ts';
import { cell, viewOf } from '../view.ts';

type Day = ResultOf<'prove'>['days'][number];
type Range = ReturnType<typeof daysOf>;

/** The rows of a certificate that are shown; its CSV has all. */
const rowsShown = 500;
const yearGiven = z.coerce.number().int().min(1).max(9999);

/** The proof of each day, years at a glance, and the certificate of chosen days. */
export const proofPage: ConsolePage = {
  path: 'proof',
  title: () => 'Proof',
  async content({ door, integration, given }) {
    const picked = pickedIn(given);
    const view = viewOf(door);
    const from = picked?.from ?? given['from'];
    const to = picked?.to ?? given['to'];
    const { map, months } = await years(view, door, integration, given);
    return html`${live('map', map)}
<form class="row" method="get" action="${pathOf(integration, 'proof')}">
<label>From<input type="date" name="from" value="${from ?? ''}" min="0001-01-01" max="9999-12-31" required></label>
<label>To<input type="date" name="to" value="${to ?? ''}" min="0001-01-01" max="9999-12-31" required></label>
<button>Show the certificate</button>
</form>
${picked === undefined ? '' : await certificate(view, door, integration, picked)}
${live('months', months)}`;
  },
};

/** The same as `prove --csv` prints into a file. */
export const proofCsv: Download = {
  path: 'proof.csv',
  async content({ door, integration, given }) {
    const range = daysOf(settingsGiven(prove, given));
    const { days } = await door.ask(integration, 'prove', range);
    return {
      name: `${integration}-${range.from}-${range.to}.csv`,
      type: 'text/csv; charset=utf-8',
      text: `${marked(proveCsv({ days })).join('\n')}\n`,
    };
  },
};

function pickedIn(given: PageRequest['given']): Range | undefined {
  const settings = settingsGiven(prove, given);
  return 'from' in settings || 'to' in settings ? daysOf(settings) : undefined;
}

async function years(
  view: View,
  door: Door,
  integration: string,
  given: PageRequest['given'],
): Promise<{ readonly map: Html; readonly months: Html }> {
  const last = lastYear(view, given['until']);
  const first = Math.max(1, last - certificateYears + 1);
  const range = { from: `${fourDigits(first)}-01-01`, to: `${fourDigits(last)}-12-31` };
  const { days } = await door.ask(integration, 'prove', range);
  const shown = knownYears(days);
  const marked = markedDays(shown);
  const from = Number(shown[0]?.day.slice(0, 4) ?? last);
  const { gist, of } = proveVerdict(countedCertificate({ days: shown, toRead: 0 }));
  const [tone, text] = gist;
  const title = from === last ? `Proof of ${last}` : `Proof of each day, ${from} to ${last}`;
  const description = `${text}: ${of}. The table by month below says the same.`;
  const map = html`<p class="verdict ${tone}" role="status">${text}: ${of}</p>
<div class="scrolls" tabindex="0" role="region" aria-label="Each day, a year a row">${heatMap(
    marked.map((one) => drawn(view, one)),
    { id: 'heat-map', title, description },
  )}</div>
${heatMapKey(meanings)}`;
  const more = html`<ul class="key">${first > 1 ? html`<li><a href="${addressOf(pathOf(integration, 'proof'), { until: String(from - 1) })}">Years before ${from}</a></li>` : ''}${given['until'] === undefined ? '' : html`<li><a href="${pathOf(integration, 'proof')}">The latest years</a></li>`}</ul>`;
  return { map, months: html`${months(marked, integration, given)}${more}` };
}

const fourDigits = (year: number) => String(year).padStart(4, '0');

/** @throws UsageError */
function lastYear({ now }: View, until: string | undefined): number {
  // No time zone reaches a new year before UTC+14, so the partner's year is included.
  if (until === undefined) return now.toZonedDateTimeISO('+14:00').year;
  const year = yearGiven.safeParse(until);
  if (year.success) return year.data;
  throw new UsageError(`There is no year ${until}.`, 'Allowed: a year, such as 2026.');
}

/** From the first year with any certification on; without future years. */
function knownYears(days: readonly Day[]): Day[] {
  const known = days.find(({ count, since = 0, digest }) => count + since > 0 || digest);
  const begun = days.findLast(({ state }) => state !== 'not-yet') ?? days.at(-1);
  const to = begun?.day.slice(0, 4) ?? '';
  const from = known?.day.slice(0, 4) ?? to;
  return days.filter(({ day }) => day.slice(0, 4) >= from && day.slice(0, 4) <= to);
}

const meanings: Readonly<Record<Mark, string>> = {
  proven: 'proven',
  empty: 'proven: nobody was certified',
  open: 'not over: proven so far',
  due: 'to be read',
  unproven: 'unproven',
  'not-yet': 'still to come',
};

interface Marked {
  readonly day: Day;
  readonly mark: Mark;
}

function markedDays(days: readonly Day[]): Marked[] {
  const due = new Set(days.filter(isDue).map(({ day }) => day));
  return days.map((day) => ({ day, mark: markOf(day, due) }));
}

const isDue = ({ cause, askedAt, state, proof }: Day) =>
  askedAt !== undefined || cause === 'never-read' || (state === 'open' && proof === undefined);

/** @param due days that are to be read; a day without an entry is read with its neighbour */
function markOf({ day, state, count, since = 0, neighbour = day }: Day, due: Set<string>): Mark {
  if (state === 'not-yet') return 'not-yet';
  if (due.has(day) || due.has(neighbour)) return 'due';
  if (state !== 'proven') return state;
  return count + since === 0 ? 'empty' : 'proven';
}

/** A day with its tooltip: the reason, unless it is proven or in the future. */
function drawn(view: View, { day, mark }: Marked): MarkedDay {
  const isAsItShould = mark === 'proven' || mark === 'empty' || mark === 'not-yet';
  if (isAsItShould) return { day: day.day, mark };
  const { askedAt } = day;
  const asked = askedAt === undefined ? '' : `; a read is asked for since ${moment(askedAt, view)}`;
  return { day: day.day, mark, told: `${proofTold(day)[1]}${asked}` };
}

const monthNames = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** The map in numbers, for people who do not see it. Each month links to its certificate. */
function months(days: readonly Marked[], integration: string, given: PageRequest['given']): Html {
  const byMonth = Map.groupBy(days, ({ day: { day } }) => day.slice(0, 7));
  const byYear = [...new Set(days.map(({ day: { day } }) => day.slice(0, 4)))].reverse();
  const { until = '' } = given;
  const columns = ['Year', ...monthNames].map((title) => ({ title }));
  const rows = byYear.map((year) => [
    year,
    ...monthNames.map((_, month) => {
      const some = byMonth.get(`${year}-${String(month + 1).padStart(2, '0')}`) ?? [];
      return monthTold(some, integration, until);
    }),
  ]);
  return table('Days proven of those that have begun, by month', columns, rows);
}

function monthTold(days: readonly Marked[], integration: string, until: string): Html | string {
  const begun = days.filter(({ mark }) => mark !== 'not-yet');
  const [from, to] = [days.at(0)?.day.day, days.at(-1)?.day.day];
  if (begun.length === 0 || from === undefined || to === undefined) return '';
  const has = (mark: Mark) => begun.some((one) => one.mark === mark);
  const tone: Tone = has('unproven') ? 'bad' : has('due') ? 'warning' : 'good';
  const proven = begun.filter(({ day }) => day.state !== 'unproven' && day.proof).length;
  const path = addressOf(pathOf(integration, 'proof'), { from, to, until });
  return html`<a href="${path}">${toned(tone, `${proven}/${begun.length}`)}</a>`;
}

async function certificate(
  view: View,
  door: Door,
  integration: string,
  { from, to }: Range,
): Promise<Html> {
  const { days } = await door.ask(integration, 'prove', { from, to });
  const { gist, of } = proveVerdict(countedCertificate({ days, toRead: 0 }));
  const [tone, text] = gist;
  const rows = proveRows(view, days);
  const columns = proveColumns.map(({ title, ...more }) => ({ title, isNumber: 'align' in more }));
  const left = rows.length - rowsShown;
  const range = from === to ? from : `${from} to ${to}`;
  const shown = rows.slice(0, rowsShown).map((row) => row.map(cell));
  return html`<section aria-labelledby="certificate-title"><h2 id="certificate-title">Certificate of ${range}</h2>
${live(
  'certificate',
  html`<p class="verdict ${tone}">${text}: ${of}</p>
${table('Its days', columns, shown)}${left > 0 ? html`<p class="faint">and ${count(left, 'row')}: the CSV has all ${amount(days.length)} days.</p>` : ''}`,
)}
<p><a href="${addressOf(pathOf(integration, 'proof.csv'), { from, to })}" download>Download as CSV</a></p>
${commandForm(integration, 'prove', html`${hiddenFields({ from, to, now: 'yes' })}<button class="act">Read these days again now</button> <span class="faint">Differences are announced.</span>`, 'buttons')}
</section>`;
}
