import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { assessmentFields } from '../../../infra/config/assessment-fields.ts';
import { parseConfig } from '../../../infra/config.ts';
import { assessmentSchema } from '../../../lambda/events/assessment.ts';
import { expectOneLine, problemsOf, type Refusal, withDistrict } from './settings.ts';

describe('an integration', () => {
  it.each([
    ['https://partner.example.org/', 'https://partner.example.org'],
    ['https://partner.example.org:8443', 'https://partner.example.org:8443'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('may name the host %s', (baseUrl, origin) => {
    expect(parseConfig(withDistrict({ baseUrl })).integrations[0]?.baseUrl).toBe(origin);
  });

  it('may choose any documented field', () => {
    expect([...assessmentFields]).toEqual(Object.keys(assessmentSchema.shape));
    for (const field of assessmentFields)
      expect(problemsOf(withDistrict({ fields: [field] }))).toEqual([]);
    expect(problemsOf(withDistrict({ fields: 'identifiers' }))).toEqual([]);
  });

  it('may tick seldom without a setting for the audits of recent days', () => {
    expect(problemsOf(withDistrict({ every: 60 }))).toEqual([]);
  });

  it.each(['UTC', 'US/Central', 'Asia/Kolkata', 'Europe/Berlin', 'America/Argentina/Ushuaia'])(
    'accepts the time zone %s',
    (timeZone) => {
      expect(problemsOf(withDistrict({ timeZone }))).toEqual([]);
    },
  );

  it.each([1, 400, false, undefined])('may limit the plausible silence: %s', (silence) => {
    expect(parseConfig(withDistrict({ silence })).integrations[0]?.silence).toBe(silence);
  });

  it('may announce from a day that has begun', () => {
    const since = Temporal.Now.plainDateISO('UTC').toString();
    expect(problemsOf(withDistrict({ announce: { since } }))).toEqual([]);
  });
});

describe('a wrong setting of an integration is named with its place, its value and the allowed values', () => {
  it.each<Refusal>([
    [
      'an upper-case name',
      withDistrict({ name: 'District-A' }),
      'integrations[0].name: "District-A"',
      'lower-case',
    ],
    [
      'a name with an underscore',
      withDistrict({ name: 'district_a' }),
      'integrations[0].name: "district_a"',
      'lower-case',
    ],
    [
      'a long name',
      withDistrict({ name: 'd'.repeat(41) }),
      'integrations[0].name: "ddd',
      'at most 40',
    ],
    [
      'an unknown time zone',
      withDistrict({ timeZone: 'America/Chikago' }),
      'integrations[0].timeZone: "America/Chikago" found',
      'IANA time zone',
    ],
    [
      'an offset for a zone',
      withDistrict({ timeZone: '+05:00' }),
      'integrations[0].timeZone: "+05:00" found',
      'IANA time zone',
    ],
    [
      'http',
      withDistrict({ baseUrl: 'http://partner.example.org' }),
      'integrations[0].baseUrl: "http://partner.example.org" found',
      'https host',
    ],
    [
      'http on a host that only looks like loopback',
      withDistrict({ baseUrl: 'http://127.example.org' }),
      'integrations[0].baseUrl:',
      'on loopback only',
    ],
    [
      'a path',
      withDistrict({ baseUrl: 'https://partner.example.org/api/v1' }),
      'integrations[0].baseUrl: "https://partner.example.org/api/v1" found',
      'without path',
    ],
    [
      'a host without a scheme',
      withDistrict({ baseUrl: 'partner.example.org' }),
      'integrations[0].baseUrl: "partner.example.org" found',
      'https host',
    ],
    [
      'zero minutes',
      withDistrict({ every: 0 }),
      'integrations[0].every: 0 found',
      'a whole number from 1 to 60',
    ],
    [
      'recent days with audits more often than ticks',
      withDistrict({ every: 10, audit: { recentMinutes: 5 } }),
      'integrations[0].audit.recentMinutes: 5 found',
      'at least `every` (10)',
    ],
    [
      'half minutes',
      withDistrict({ every: 1.5 }),
      'integrations[0].every: 1.5 found',
      'a whole number from 1 to 60',
    ],
    [
      'minutes as text',
      withDistrict({ every: '5' }),
      'integrations[0].every: "5" found',
      'a whole number from 1 to 60',
    ],
    [
      'a month of recent days',
      withDistrict({ recentDays: 31 }),
      'integrations[0].recentDays: 31 found',
      'from 1 to 30',
    ],
    [
      'another token request',
      withDistrict({ tokenRequest: 'header' }),
      'integrations[0].tokenRequest: "header" found',
      "one of 'form', 'basic', 'json'",
    ],
    [
      'another reader of the baseline',
      withDistrict({ baseline: 'state-machine' }),
      'integrations[0].baseline: "state-machine" found',
      "'tick', 'fan-out' or an object with atOnce",
    ],
    [
      'no range at once',
      withDistrict({ baseline: { atOnce: 0 } }),
      'integrations[0].baseline.atOnce: 0 found',
      'a whole number from 1 to 40',
    ],
    [
      'a fan-out that is to be announced',
      withDistrict({ baseline: 'fan-out', announce: { since: '2019-11-01' } }),
      'integrations[0].announce: an object found',
      "'none' beside `baseline`",
    ],
    [
      'another choice of fields',
      withDistrict({ fields: 'none' }),
      'integrations[0].fields: "none" found',
      "'all', 'identifiers' or a list",
    ],
    [
      'no fields',
      withDistrict({ fields: [] }),
      'integrations[0].fields: a list of 0 found',
      "'all', 'identifiers' or a list",
    ],
    [
      'a field that the document does not name',
      withDistrict({ fields: ['seid', 'emial'] }),
      'integrations[0].fields[1]: "emial" found',
      "'organization_name', 'assessment_name', 'certified_on', 'results'",
    ],
    [
      'an ARN for a secret name',
      withDistrict({ secretName: 'arn:aws:secretsmanager:us-east-1:111122223333:secret:x' }),
      'integrations[0].secretName:',
      'not the ARN',
    ],
    [
      'an unknown setting',
      withDistrict({ evry: 5 }),
      'integrations[0].evry: unknown setting',
      'an object with name, baseUrl, timeZone',
    ],
    ...['CST', 'EST', 'CST6CDT', 'Japan', 'SystemV/CST6'].map(
      (timeZone): Refusal => [
        `a zone that is no place: ${timeZone}`,
        withDistrict({ timeZone }),
        `integrations[0].timeZone: "${timeZone}" found`,
        'no abbreviation',
      ],
    ),
    [
      'announcing from a day that is still to come',
      withDistrict({ announce: { since: '2999-01-01' } }),
      'integrations[0].announce.since: "2999-01-01" found',
      'not after today',
    ],
    [
      'a key for a secret that does not exist yet',
      withDistrict({
        secretKeyArn: 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef',
      }),
      'integrations[0].secretKeyArn:',
      'existing secret',
    ],
    [
      "a key's alias",
      withDistrict({
        secretName: 'partner/district-a',
        secretKeyArn: 'arn:aws:kms:us-east-1:111122223333:alias/partner',
      }),
      'integrations[0].secretKeyArn:',
      'not of an alias',
    ],
    [
      'a schedule of hours',
      withDistrict({ every: 61 }),
      'integrations[0].every: 61 found',
      'a whole number from 1 to 60',
    ],
    [
      'audits that never ask',
      withDistrict({ audit: { requestsPerTick: 0 } }),
      'integrations[0].audit.requestsPerTick: 0 found',
      'a whole number from 1 to 1000',
    ],
    [
      'a day that does not exist',
      withDistrict({ announce: { since: '2026-02-30' } }),
      'integrations[0].announce.since: "2026-02-30" found',
      'a day, YYYY-MM-DD',
    ],
    [
      'credentials in the address of the host',
      withDistrict({ baseUrl: 'https://id:word@partner.example.org' }),
      'integrations[0].baseUrl: a text of 35 characters found',
      'without path, query or credentials',
    ],
  ])('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});
