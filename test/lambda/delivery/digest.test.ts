import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { type DigestOptions, digestMail, forDigest } from '../../../lambda/delivery/digest.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import type { Announced, CertificationEvent } from '../../../lambda/events/event.ts';
import { testEvent } from '../../../lambda/events/test-event.ts';
import { anyRecord, assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';
import { announcedAt, eventOf } from '../events/announced.ts';
import { mailOptions } from './mail-options.ts';

/** In Chicago it is the evening before. */
const now = Temporal.Instant.from('2026-11-23T02:00:00Z');

type Kind = 'created' | 'updated' | 'restored' | 'withdrawn';

const event = (kind: Kind, record: Partial<Assessment> = {}, more: Partial<Announced> = {}) =>
  eventOf({ ...assessment(), ...record }, { type: `certification.${kind}`, ...more });
const created = (record?: Partial<Assessment>) => event('created', record);

const mailOf = (events: readonly CertificationEvent[], options: Partial<DigestOptions> = {}) =>
  digestMail(
    events.map(forDigest),
    { ...mailOptions, timeZone: 'America/Chicago', ...options },
    now,
  );

const names = [
  ...['Odalys Quillfeather', 'Iñaki Brightwater', 'Þórdís Ævarsdóttir-Imaginary'],
  ...['Ανδρομάχη Φανταστίδου', 'Выдумка Небылицына', 'خيالي بن وهمي', 'דמיונית בדויה'],
  ...['架空 花子', '虛構的 李明', 'काल्पनिक देवी', 'นามสมมุติ ใจดี', 'Zoë 🪢 Ropewalker'],
];
const organizations = [
  'Larkspur Valley Schools',
  'Cinder Creek Academy',
  'École des Nuages',
  '青空学園',
];
const products = ['CPR', 'First Aid', 'Rope Bridge Safety', 'Säker lyftteknik', '救命講習'];

/** Invented people over some years, the same in each run. */
function someone(index: number) {
  return assessment({
    id: 50_000 + index,
    name: names[index % names.length] ?? '',
    assessment_name: products[(index * 7) % products.length] ?? '',
    certified_on: new Date(Date.UTC(2026, 10, 21 - (index % 900))).toISOString().slice(0, 10),
    organization_id: 7 + (index % organizations.length),
    organization_name: organizations[index % organizations.length] ?? '',
  });
}

/** Some events of each kind, most of them new certifications. */
function happening(index: number): CertificationEvent {
  const one = someone(index);
  const late = one.certified_on < '2026-11-18';
  if (index % 13 === 5) return event('updated', one, { changed: ['last_name', 'email'] });
  if (index % 17 === 9) return event('withdrawn', one, { late });
  return event(index % 29 === 11 ? 'restored' : 'created', one, { late });
}

describe('a digest, as a person reads it,', () => {
  const replayed = event('created', { name: 'Tove' }, { replay: true });
  const tested = testEvent({
    ...{ integration: 'district-a', unique: 'a1', fields: 'all' },
    time: announcedAt,
  });
  const incomplete = [
    created({ id: 1, name: null, first_name: null, last_name: null }),
    created({ id: 2, name: null, first_name: 'Tove', last_name: undefined }),
    created({ id: 3, organization_name: null }),
    created({ id: 4, organization_name: undefined, organization_id: null }),
    event('created', { id: 5, assessment_name: null }, { late: true }),
    created({ id: 7, name: ' \u200B', assessment_name: '' }),
    event('withdrawn', { id: 6, organization_id: null, assessment_name: null }),
  ];
  const identifiers = [1, 2, 3].map((id) =>
    event('created', someone(id), { fields: 'identifiers' }),
  );
  const changes = Array.from({ length: 40 }, (_, index) => happening(index));

  it.each([
    ['changes', changes, { maxRows: 12 }],
    ['counts', changes, { detail: 'counts', contact: 'certifications@example.org' }],
    ['test-event', [tested, replayed], {}],
    ['incomplete', incomplete, {}],
    ['incomplete-counts', incomplete, { detail: 'counts' }],
    ['identifiers-only', identifiers, {}],
  ] as const)('of %s', async (name, events, options) => {
    const { subject, text } = mailOf(events, options);
    await expect(`Subject: ${subject}\n\n${text}`).toMatchFileSnapshot(
      `digest/${name}.approved.txt`,
    );
  });
});

describe('the subject of a digest', () => {
  it.each([
    [['CPR', 'First Aid', 'CPR'], '3 new certifications: CPR (2), First Aid'],
    [
      Array.from({ length: 30 }, (_, index) => `Assessment\r\nnumber\u0007 ${index}`),
      '30 new certifications: Assessment number 0 and 29 more',
    ],
    [
      ['Säker lyftteknik', '救命講習', 'Saker lyftteknik', '応急手当'],
      '4 new certifications: Saker lyftteknik (2) and 2 more',
    ],
    [['救命講習'], '1 new certification'],
  ])(
    'names as many assessments as fit, and counts each other kind: %j',
    (assessments, expected) => {
      const events = assessments.map((assessment_name) => created({ assessment_name }));
      const { subject } = mailOf([...events, event('withdrawn'), event('updated')]);
      expect(subject).toBe(`district-a: ${expected}; 1 changed; 1 withdrawn`);
    },
  );

  it('has only characters that SNS accepts, with any names', () =>
    forAll(fc.array(anyRecord, { maxLength: 40 }), (all) => {
      const { subject } = mailOf(all.map((one) => created(one)));
      expect(subject).toMatch(/^[\x21-\x7E][\x20-\x7E]{0,98}$/);
    }));

  it('fits with the longest integration name and thousands of events of each kind', () => {
    const integration = `d${'-listrict'.repeat(4)}-ab`;
    expect(integration).toHaveLength(40);
    const kinds = ['created', 'restored', 'updated', 'withdrawn'] as const;
    const events = kinds.flatMap((kind) => Array(5_000).fill(event(kind)));
    const { subject } = mailOf(events, { integration });
    expect(subject).toBe(`${integration}: 5000 new certifications; 15000 more`);
    expect(mailOf([created(), ...events.slice(5_000)], { integration }).subject).toBe(
      `${integration}: 1 new certification: Rope Bridge Safety; 15000 more`,
    );
  });

  it.each([
    ['First Aid – Advanced', 'First Aid - Advanced'],
    ['Straßen-Ærø Łódź', 'Strassen-AEro Lodz'],
    ['“Rope” isn’t «easy»…', '"Rope" isn\'t "easy"...'],
    ['CPR™ 🪢 & AED\u00A0²', 'CPR & AED 2'],
    [`${'ß'.repeat(41)}.`, undefined],
    ['CPR 救命講習', undefined],
    ['🪢', undefined],
  ])('of an assessment %j has %j', (assessment_name, expected) => {
    const of = expected === undefined ? '' : `: ${expected}`;
    const { subject } = mailOf([created({ assessment_name }), event('withdrawn')]);
    expect(subject).toBe(`district-a: 1 new certification${of}; 1 withdrawn`);
  });

  it('has no State Educator ID, not even one made by a plain dash or a missing accent', () => {
    const spelled = { assessment_name: 'CPR QX–7742 é', seid: 'QX-7742' };
    expect(mailOf([created(spelled)]).subject).toBe('district-a: 1 new certification: CPR e');
  });
});

describe('the rows of a digest', () => {
  it('are the newest, and the others are counted, with the command that lists them', () => {
    const events = Array.from({ length: 310 }, (_, index) => created(someone(899 - index)));
    const { text: body } = mailOf(events);
    expect(body).toContain('and 250 more');
    expect(body).toContain(' --from 2026-11-21 --to 2026-11-22 --csv\n');
    const days = [...body.matchAll(/^ {2}(\d{4}-\d\d-\d\d) \| /gm)].map(([, day = '']) => day);
    const newest = events.map(({ data }) => data.assessment.certified_on).sort();
    expect(days.sort()).toEqual(newest.slice(-60));
    expect(mailOf(events.slice(0, 60)).text).not.toContain('npx');
  });

  it.each([
    ['Tove QX-7742 Marrowfield', 'qx-7742', 'Tove Marrowfield'],
    ['Tove Q\u200BX-77\u206042 Marrowfield', 'QX-7742', 'Tove Marrowfield'],
    ['Tove QX\n7742', 'QX 7742', 'Tove'],
    ['Tove [7.42]', '7.42', 'Tove []'],
    ['Tove 7x42', '7.42', 'Tove 7x42'],
    ['Jordan Sandoval', 'an', 'Jordan Sandoval'],
    ['Annabel Quillfeather', 'ANNA', 'Annabel Quillfeather'],
    ['A1B22 Quill', '1B22', 'A1B22 Quill'],
  ])('of %j, whose State Educator ID is %j, show %j', (name, seid, expected) => {
    const one = { name, seid, assessment_name: name, organization_name: name };
    const { subject, text: body } = mailOf([created(one)]);
    expect(body).toContain(`\n${expected}\n  2026-11-20 | ${expected} | ${expected}\n`);
    expect(subject).toBe(`district-a: 1 new certification: ${expected}`);
  });

  it.each([
    ['x＠example.org', '(address)'],
    ['x (y)@example.org', '(address)'],
    ['x\u200B@\u2060example.org', '(address)'],
    ['a @b.org', '(address)'],
    ['a @ b.org now', '(address) now'],
    ['Tove <a@b>', 'Tove <(address)>'],
    ['CPR @ Home', 'CPR @ Home'],
  ])('show %j as %j, and so does the subject', (name, expected) => {
    const { subject, text: body } = mailOf([created({ name, assessment_name: name })]);
    expect(body).toContain(`| ${expected} | ${expected}\n`);
    expect(subject).toBe(`district-a: 1 new certification: ${expected}`);
  });

  it.each(['\n', '\r\n', '\u2028', '\u0085', '\v'])('cannot be forged by a name with %j', (end) => {
    const { text: body } = mailOf([created({ name: `A${end}  2026-11-20 | Forged Row | CPR` })]);
    expect(body).not.toMatch(/^ {2}2026-11-20 \| Forged/m);
    expect(body.match(/\|/g)).toHaveLength(2);
  });

  it('have only characters that XML, and so SNS, allows, and cannot be turned around', () => {
    const name = 'Oda\uFFFElys\uFFFF \u0001\u202Erehtaefilliuq\u2066';
    const { text: body } = mailOf([created({ name, assessment_name: 'إسعاف' })]);
    expect(body).toContain('2026-11-20 | Odalys rehtaefilliuq | \u2068إسعاف\u2069');
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
    const all = [...events, ...events.map((_, id) => event('updated', long(id + 1)))];
    const { text: body } = mailOf(all, { detail, maxRows: 1_000 });
    expect(Buffer.byteLength(body)).toBeLessThan(262_144);
    expect(body).toMatch(/and \d+ more/);
    expect(body.isWellFormed()).toBe(true);
  });

  it('shows or counts every event', () =>
    forAll(
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
    ));

  it('keeps only the fields of its rows while it waits', () => {
    const { data } = forDigest(created({ essay: 'long' }));
    expect(Object.keys(data.assessment)).toEqual([
      ...['id', 'organization_id', 'assessment_name', 'certified_on'],
      ...['seid', 'name', 'first_name', 'last_name', 'organization_name'],
    ]);
  });
});
