import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { type DigestOptions, digestMail, forDigest } from '../../../lambda/delivery/digest.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import {
  type Announced,
  type CertificationEvent,
  certificationEvent,
} from '../../../lambda/events/event.ts';
import { testEvent } from '../../../lambda/events/test-event.ts';
import type { Notice } from '../../../lambda/ports/announcer.ts';
import type { DocumentedRecord } from '../../../local/documented-record.ts';
import { anyRecord, assessment } from '../../support/assessments.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const announced = { integration: 'district-a', late: false, time: '2026-11-21T08:00:04.120Z' };

/** In Chicago it is the evening before. */
const now = Temporal.Instant.from('2026-11-23T02:00:00Z');

type Overrides = Partial<Assessment>;

function sighting(type: Announced['type'], overrides: Overrides, more: Partial<Announced> = {}) {
  const one: Assessment = { ...assessment(), ...overrides };
  return certificationEvent({
    ...announced,
    type,
    assessment: one,
    fields: 'all',
    revision: 1,
    changed: [],
    ...more,
  });
}

const created = (overrides: Overrides = {}, late = false) =>
  sighting('certification.created', overrides, { late });
const updated = (changed: string[], overrides: Overrides = {}) =>
  sighting('certification.updated', overrides, { revision: 2, changed });
const restored = (overrides: Overrides = {}) =>
  sighting('certification.restored', overrides, { revision: 3 });
const withdrawn = (overrides: Overrides = {}, late = true) =>
  certificationEvent({
    type: 'certification.withdrawn',
    ...announced,
    ...{ late, revision: 2 },
    assessment: { ...assessment(), ...overrides },
  });

function mailOf(events: Iterable<CertificationEvent>, options: Partial<DigestOptions> = {}) {
  const all = {
    integration: 'district-a',
    timeZone: 'America/Chicago',
    stack: 'prod',
    detail: 'names',
    maxRows: 60,
    ...options,
  } as const;
  return digestMail([...events].map(forDigest), all, now);
}

const names = [
  'Odalys Quillfeather',
  'Iñaki Brightwater',
  'Þórdís Ævarsdóttir-Imaginary',
  'Ανδρομάχη Φανταστίδου',
  'Выдумка Небылицына',
  'خيالي بن وهمي',
  'דמיונית בדויה',
  '架空 花子',
  '虛構的 李明',
  'काल्पनिक देवी',
  'นามสมมุติ ใจดี',
  'Zoë 🪢 Ropewalker',
];
const organizations = [
  { organization_id: 7, organization_name: 'Larkspur Valley Schools' },
  { organization_id: 8, organization_name: 'Cinder Creek Academy' },
  { organization_id: 9, organization_name: 'École des Nuages' },
  { organization_id: 10, organization_name: '青空学園' },
];
const products = ['CPR', 'First Aid', 'Rope Bridge Safety', 'Säker lyftteknik', '救命講習'];

/** Invented people over some years, the same in each run. */
function someone(index: number): DocumentedRecord {
  return assessment({
    id: 50_000 + index,
    name: names[index % names.length] ?? '',
    assessment_name: products[(index * 7) % products.length] ?? '',
    certified_on: new Date(Date.UTC(2026, 10, 21 - (index % 900))).toISOString().slice(0, 10),
    ...organizations[(index * 5) % organizations.length],
  });
}

/** Some events of each kind, most of them new certifications. */
function* happenings(count: number): Generator<CertificationEvent> {
  for (let index = 0; index < count; index++) {
    const one = someone(index);
    const late = one.certified_on < '2026-11-18';
    if (index % 13 === 5) yield updated(['last_name', 'organization_id'], one);
    else if (index % 17 === 9) yield withdrawn(one, late);
    else if (index % 29 === 11) yield restored(one);
    else yield created(one, late);
  }
}

function letter({ subject, text }: Notice): string {
  return `Subject: ${subject}\n\n${text}`;
}
const approved = (name: string) => `digest/${name}.approved.txt`;

describe('a digest, as a person reads it,', () => {
  it.each([1, 3, 60, 5_000])('of %i changes', async (count) => {
    await expect(letter(mailOf(happenings(count)))).toMatchFileSnapshot(
      approved(`${count}-changes`),
    );
  });

  it('of late certifications', async () => {
    const events = [
      created({ name: 'Perpetua Vane', certified_on: '2024-02-29' }, true),
      created({ id: 2, name: 'Tove Marrowfield' }),
    ];
    await expect(letter(mailOf(events))).toMatchFileSnapshot(approved('late'));
  });

  it('of withdrawn and restored certifications', async () => {
    const events = [
      withdrawn({ id: 48_213, certified_on: '2024-02-29' }, true),
      withdrawn({ id: 48_214, organization_id: 8 }, false),
      restored({ id: 48_215, name: 'Tove Marrowfield' }),
    ];
    await expect(letter(mailOf(events))).toMatchFileSnapshot(approved('withdrawn'));
  });

  it('of a test event and a replayed event', async () => {
    const events = [
      testEvent({
        integration: 'district-a',
        unique: 'a1',
        time: Temporal.Instant.from(announced.time),
        fields: 'all',
      }),
      sighting('certification.created', { name: 'Tove Marrowfield' }, { replay: true }),
    ];
    await expect(letter(mailOf(events))).toMatchFileSnapshot(approved('test-event'));
  });

  it('of records without names', async () => {
    const events = [
      created({ id: 1, name: null, first_name: null, last_name: null }),
      created({ id: 2, name: null, first_name: 'Tove', last_name: undefined }),
      created({ id: 3, organization_name: null }),
      created({ id: 4, organization_name: undefined, organization_id: null }),
      created({ id: 5, assessment_name: null }, true),
      withdrawn({ id: 6, organization_id: null, assessment_name: null }),
    ];
    await expect(letter(mailOf(events))).toMatchFileSnapshot(approved('incomplete'));
    const counts = letter(mailOf(events, { detail: 'counts' }));
    await expect(counts).toMatchFileSnapshot(approved('incomplete-counts'));
    expect(counts).not.toMatch(/null|undefined/);
  });

  it('without names of people', async () => {
    const mail = mailOf(happenings(60), { detail: 'counts' });
    await expect(letter(mail)).toMatchFileSnapshot(approved('counts'));
    for (const name of names) expect(mail.text).not.toContain(name);
  });
});

describe('the subject of a digest', () => {
  it('counts the events of each kind', () => {
    const events = [
      created({ assessment_name: 'CPR' }),
      created({ assessment_name: 'First Aid' }),
      created({ assessment_name: 'CPR' }),
    ];
    expect(mailOf(events).subject).toBe('district-a: 3 new certifications: CPR (2), First Aid');
    expect(mailOf([...events, withdrawn(), updated(['email'])]).subject).toBe(
      'district-a: 3 new certifications: CPR (2), First Aid; 1 changed; 1 withdrawn',
    );
  });

  it('names as many assessments as fit', () => {
    const events = Array.from({ length: 30 }, (_, index) =>
      created({ assessment_name: `Assessment\r\nnumber\u0007 ${index}` }),
    );
    expect(mailOf([...events, withdrawn()]).subject).toBe(
      'district-a: 30 new certifications: Assessment number 0 and 29 more; 1 withdrawn',
    );
  });

  it('has only characters that SNS accepts, with any names', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 40 }), (all) => {
        const { subject } = mailOf(all.map((one) => created(one)));
        expect(subject).toMatch(/^[\x21-\x7E][\x20-\x7E]{0,98}$/);
      }),
    );
  });

  it('fits with the longest integration name and thousands of events of each kind', () => {
    const integration = `d${'-listrict'.repeat(4)}-ab`;
    expect(integration).toHaveLength(40);
    const kinds = [created(), restored(), updated([]), withdrawn()];
    const events = kinds.flatMap((one) => Array.from({ length: 5_000 }, () => one));
    const { subject } = mailOf(events, { integration });
    expect(subject).toBe(`${integration}: 5000 new certifications; 15000 more`);
    expect(mailOf([created(), ...events.slice(5_000)], { integration }).subject).toBe(
      `${integration}: 1 new certification: Rope Bridge Safety; 15000 more`,
    );
  });

  it.each([
    ['First Aid – Advanced', 'First Aid - Advanced'],
    ['CPR—Adult‑Child', 'CPR-Adult-Child'],
    ['Säker lyftteknik', 'Saker lyftteknik'],
    ['Straßen-Ærø Łódź', 'Strassen-AEro Lodz'],
    ['“Rope” isn’t «easy»…', '"Rope" isn\'t "easy"...'],
    ['CPR™ 🪢 & AED\u00A0²', 'CPR & AED 2'],
    ['ＣＰＲ', 'CPR'],
    [`${'ß'.repeat(41)}.`, undefined],
    ['CPR 救命講習', undefined],
    ['Первая помощь', undefined],
    ['🪢', undefined],
  ])('of an assessment %j has %j', (assessment_name, expected) => {
    const of = expected === undefined ? '' : `: ${expected}`;
    const { subject } = mailOf([created({ assessment_name }), withdrawn()]);
    expect(subject).toBe(`district-a: 1 new certification${of}; 1 withdrawn`);
  });

  it('counts the names that it cannot write, and lists the others', () => {
    const events = ['Säker lyftteknik', '救命講習', 'Saker lyftteknik', '応急手当'].map(
      (assessment_name) => created({ assessment_name }),
    );
    expect(mailOf(events).subject).toBe(
      'district-a: 4 new certifications: Saker lyftteknik (2) and 2 more',
    );
    expect(mailOf(events.slice(1, 2)).subject).toBe('district-a: 1 new certification');
  });

  it('has no State Educator ID, not even one made by a plain dash or a missing accent', () => {
    const spelled = { assessment_name: 'CPR QX–7742 é', seid: 'QX-7742' };
    expect(mailOf([created(spelled)]).subject).toBe('district-a: 1 new certification: CPR e');
  });
});

describe('the end of a digest', () => {
  it('says how to get all events only if some are left out', () => {
    const events = Array.from({ length: 61 }, (_, index) => created(someone(index)));
    const howTo =
      'npx certification-notifier events --stack prod --integration district-a --from 2026-11-21 --to 2026-11-22 --csv';
    expect(mailOf(events.slice(1)).text).not.toContain('npx');
    expect(mailOf(events).text).toContain(`\n  ${howTo}\n`);
    const counted = { detail: 'counts', maxRows: 1 } as const;
    expect(mailOf(events, counted).text).toContain(howTo);
  });

  it('names the sender and the contact', () => {
    const end = (contact?: string) => mailOf([created()], { contact }).text.split('\n').slice(-3);
    expect(end()).toEqual([
      'Sent by certification-notifier for the integration district-a (stack prod).',
      'Whom to ask: those in your organization who run the stack prod. A reply to this mail reaches nobody.',
      '',
    ]);
    expect(end('certifications@example.org')[1]).toBe(
      'Whom to ask: certifications@example.org. A reply to this mail reaches nobody.',
    );
  });
});

describe('the rows of a digest', () => {
  it('are the newest, and the others are counted', () => {
    const events = Array.from({ length: 310 }, (_, index) => created(someone(899 - index)));
    const { text: body } = mailOf(events);
    expect(body).toContain('and 250 more');
    const days = [...body.matchAll(/^ {2}(\d{4}-\d\d-\d\d) \| /gm)].map(([, day = '']) => day);
    expect(days).toHaveLength(60);
    const newest = events.map(({ data }) => data.assessment.certified_on).sort();
    expect(days.sort()).toEqual(newest.slice(-60));
  });

  it('have no e-mail address and no State Educator ID, not even within a name', () => {
    const events = [
      created(),
      updated(['seid', 'email']),
      created({ name: 'educator-3@example.org', seid: 'QX-7741' }),
      created({ name: 'Tove (QX-7742) Marrowfield', seid: 'QX-7742' }),
      created({ organization_name: 'Office <office@example.org>' }),
    ];
    const { subject, text: body } = mailOf(events);
    expect(subject + body).not.toMatch(/@|SEID-|QX-/);
    expect(body).toContain('Marrowfield');
  });

  it.each([
    ['Tove QX-7742 Marrowfield', 'qx-7742', 'Tove Marrowfield'],
    ['Tove Q\u200BX-77\u206042 Marrowfield', 'QX-7742', 'Tove Marrowfield'],
    ['Tove QX\n7742', 'QX 7742', 'Tove'],
    ['Tove [7.42]', '7.42', 'Tove []'],
    ['Tove 7x42', '7.42', 'Tove 7x42'],
    ['Jordan Sandoval', 'an', 'Jordan Sandoval'],
    ['Annabel Quillfeather', 'ANNA', 'Annabel Quillfeather'],
    ['Johanna Quillfeather', 'anna', 'Johanna Quillfeather'],
    ['A1B22 Quill', '1B22', 'A1B22 Quill'],
  ])('of %j, whose State Educator ID is %j, show %j', (name, seid, expected) => {
    const one = { name, seid, assessment_name: name, organization_name: name };
    const { subject, text: body } = mailOf([created(one)]);
    expect(body).toContain(`\n${expected}\n  2026-11-20 | ${expected} | ${expected}\n`);
    expect(subject).toBe(`district-a: 1 new certification: ${expected}`);
  });

  it('count by assessments, also without a State Educator ID in their names', () => {
    const one = { seid: 'QX-7742', assessment_name: 'CPR (qx-7742)' };
    const { subject, text: body } = mailOf([created(one)], { detail: 'counts' });
    expect(subject + body).not.toMatch(/7742/);
  });

  it.each([
    ['x＠example.org', '(address)'],
    ['x﹫example.org', '(address)'],
    ['x (y)@example.org', '(address)'],
    ['x@(y) example.org', '(address)'],
    ['a @b.org', '(address)'],
    ['a @ b.org now', '(address) now'],
    ['Tove <a@b>', 'Tove <(address)>'],
    ['CPR @ Home', 'CPR @ Home'],
  ])('show %j as %j, and so does the subject', (name, expected) => {
    const { subject, text: body } = mailOf([created({ name, assessment_name: name })]);
    expect(body).toContain(`| ${expected} | ${expected}\n`);
    expect(subject).toBe(`district-a: 1 new certification: ${expected}`);
  });

  it('have no address in any spelling', () => {
    const at = fc.constantFrom('@', '＠', '﹫', ' @', '@ ', '(c)@', '\u200B@', '\n＠\u2060');
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(text, at, text, (before, sign, after) => {
        const name = `${before}x${sign}example.org${after}`;
        const { subject, text: body } = mailOf([
          created({ name, assessment_name: name, seid: null }),
        ]);
        expect(subject + body).not.toMatch(/[@＠﹫] ?example/);
      }),
    );
  });

  it('name nobody if the event has identifiers only', async () => {
    const events = [1, 2, 3].map((id) =>
      sighting('certification.created', someone(id), { fields: 'identifiers' }),
    );
    await expect(letter(mailOf(events))).toMatchFileSnapshot(approved('identifiers-only'));
  });

  it.each(['\n', '\r\n', '\u2028', '\u0085', '\v'])('cannot be forged by a name with %j', (end) => {
    const { text: body } = mailOf([created({ name: `A${end}  2026-11-20 | Forged Row | CPR` })]);
    expect(body).not.toMatch(/^ {2}2026-11-20 \| Forged/m);
    expect(body.match(/\|/g)).toHaveLength(2);
  });

  it('cannot be turned around by a name', () => {
    const { text: body } = mailOf([
      created({ name: 'Odalys \u202Erehtaefilliuq\u2066', assessment_name: 'إسعاف' }),
    ]);
    expect(body).toContain('2026-11-20 | Odalys rehtaefilliuq | \u2068إسعاف\u2069');
  });

  it('describe a nameless record', () => {
    const { text: body } = mailOf([created({ id: 7, name: ' \u200B', assessment_name: '' })]);
    expect(body).toContain('2026-11-20 | assessment 7 | an assessment without a name');
  });
});

describe('a digest of any number of events', () => {
  it.each(['names', 'counts'] as const)('fits into an SNS message (%s)', (detail) => {
    const long = (id: number) => ({
      id,
      name: '虛'.repeat(300),
      organization_name: `${id}é̂̃`.repeat(200),
      assessment_name: `${id}🪢`.repeat(200),
    });
    const events = Array.from({ length: 500 }, (_, id) => created(long(id + 1)));
    const all = [...events, ...events.map((_, id) => updated(['name'], long(id + 1)))];
    const { text: body } = mailOf(all, { detail, maxRows: 1_000 });
    expect(Buffer.byteLength(body)).toBeLessThan(262_144);
    expect(body).toMatch(/and \d+ more/);
    expect(body.isWellFormed()).toBe(true);
  });

  it('shows or counts every event', () => {
    fc.assert(
      fc.property(
        fc.array(anyRecord, { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        (all, maxRows) => {
          const { text: body } = mailOf(
            all.map((one) => created(one)),
            { maxRows },
          );
          const rows = body.match(/^ {2}\d{4}-\d\d-\d\d \| /gm)?.length ?? 0;
          const rest = Number(/^and (\d+) more$/m.exec(body)?.[1] ?? 0);
          expect(rows + rest).toBe(all.length);
          expect(rows).toBeLessThanOrEqual(maxRows);
        },
      ),
    );
  });

  it('needs only the memory of its rows, for records of any size', () => {
    const grownBy = (events: number) => {
      collectGarbage();
      const before = process.memoryUsage().heapUsed;
      const kept = Array.from({ length: events }, (_, id) =>
        forDigest(
          created({ id: id + 1, name: `Educator ${id}`, essay: 'long '.repeat(id % 7_000) }),
        ),
      );
      collectGarbage();
      const grown = process.memoryUsage().heapUsed - before;
      expect(mailOf(kept).text.match(/Educator \d/g)).toHaveLength(60);
      return grown;
    };
    grownBy(5_000);
    // The records themselves would occupy some 350 MB.
    expect(grownBy(20_000)).toBeLessThan(40_000_000);
  });
});
