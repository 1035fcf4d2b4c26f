import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerCorruptError, LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import type { Announcer } from '../../../lambda/ports/announcer.ts';
import type { Lease } from '../../../lambda/ports/state.ts';
import { Integration } from '../../scaffold/integration.ts';
import { serverError } from '../../scaffold/partner.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { assessment } from '../../support/assessments.ts';
import { lease } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

describe('a tick after the baseline', () => {
  beforeEach(async () => {
    await story.tick();
  });

  it('announces new certifications to systems, and once to people', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 }), assessment({ id: 3 })];
    expect(await story.tick()).toMatchObject({ created: 3, delivered: 3, undelivered: 0 });
    expect(story.ids().sort()).toEqual([1, 2, 3].map((id) => `${story.name}/${id}/1`));
    expect(story.mails).toHaveLength(1);
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 0 });
    expect(story.heard).toHaveLength(3);
  });

  it('announces an edit as an update with the names of the fields', async () => {
    story.world = [assessment({ id: 1 })];
    await story.tick();
    story.world = [assessment({ id: 1, organization_name: 'Cinder Creek Academy' })];
    expect(await story.tick()).toMatchObject({ updated: 1 });
    expect(story.heard.at(-1)).toMatchObject({
      id: `${story.name}/1/2`,
      type: 'certification.updated',
      data: { changed: ['organization_name'] },
    });
  });

  it('finds new certifications on a day of thousands with one more request', async () => {
    const day = '2026-11-21';
    const of = (id: number) => assessment({ id, certified_on: day });
    const morning = new Integration();
    morning.world = Array.from({ length: 2_500 }, (_, index) => of(index + 1));
    await morning.tick();
    morning.requests.length = 0;
    morning.world = [...morning.world, of(2_501), of(2_502)];
    expect(await morning.tick()).toMatchObject({ created: 2, delivered: 2 });
    expect(morning.requests).toEqual(['pulse', 'tail']);
    expect(await morning.tick()).toMatchObject({ created: 0, examined: 0 });
  });

  it('marks certifications completed before the recent window as late', async () => {
    story.world = [assessment({ id: 1, certified_on: '2026-11-17' }), assessment({ id: 2 })];
    await story.tick();
    expect(new Map(story.heard.map(({ subject, data }) => [subject, data.late]))).toEqual(
      new Map([
        ['1', true],
        ['2', false],
      ]),
    );
  });

  it('takes no lease when nothing changed', async () => {
    const ledger = story.ledgerWith({
      takeLease: () => Promise.reject(new Error('a quiet tick needs no lease')),
    });
    expect(await story.tick({ ledger })).toMatchObject({ outcome: 'completed' });
  });

  it('ends quietly while another tick holds the lease', async () => {
    expect(await lease.tell(new Integration())).toEqual(lease.seen);
  });

  it('counts malformed records and handles the others', async () => {
    story.world = [assessment()];
    story.host.add(9, '2026-11-20');
    story.host.spoil(9, { id: null });
    expect(await story.tick()).toMatchObject({ quarantined: 1, delivered: 1 });
    expect(story.warnings).toEqual(['record quarantined']);
  });

  it('retries an event that SNS refused, with the same id', async () => {
    story.world = Array.from({ length: 10 }, (_, index) => assessment({ id: index + 1 }));
    story.subscribers.refuse = ({ subject }) => subject === '4' || subject === '7';
    expect(await story.tick()).toMatchObject({ delivered: 8, undelivered: 2 });
    story.subscribers.refuse = () => false;
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 2, undelivered: 0 });
    expect(story.ids()).toHaveLength(10);
    expect(new Set(story.ids()).size).toBe(10);
    expect(story.mails.flat().sort()).toEqual(story.ids().sort());
  });

  it('owes only the digest if SNS accepted the events and refused the mail', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    expect(await story.tick()).toMatchObject({ delivered: 2, undelivered: 2 });
    story.subscribers.mailing = { accepted: true };
    expect(await story.tick()).toMatchObject({ delivered: 0, undelivered: 0 });
    expect(story.heard).toHaveLength(2);
    expect(story.mails).toHaveLength(1);
    await story.tick();
    expect(story.mails).toHaveLength(1);
  });

  it('that dies between commit and publish has its events delivered by the next tick', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    const dead: Announcer = {
      ...story.subscribers,
      publish: () => Promise.reject(new Error('killed')),
    };
    await expect(story.tick({ announcer: dead })).rejects.toThrow('killed');
    expect(story.heard).toEqual([]);
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 2 });
    expect(story.ids().sort()).toEqual([`${story.name}/1/1`, `${story.name}/2/1`]);
  });

  it('that dies between publish and settling has its events delivered again, with the same ids', async () => {
    story.world = [assessment({ id: 1 })];
    const dead = story.ledgerWith({ settle: () => Promise.reject(new Error('killed')) });
    await expect(story.tick({ ledger: dead })).rejects.toThrow('killed');
    await story.tick();
    expect(story.ids()).toEqual([`${story.name}/1/1`, `${story.name}/1/1`]);
    await story.tick();
    expect(story.heard).toHaveLength(2);
  });

  it('delivers leftovers while the partner is down, and reports the failure', async () => {
    story.world = [assessment()];
    story.subscribers.refuse = () => true;
    await story.tick();
    story.subscribers.refuse = () => false;
    story.host.fault = serverError;
    const failure = { code: 'unavailable' };
    expect(await story.tick()).toMatchObject({ outcome: 'disturbed', delivered: 1, failure });
    expect(story.heard).toHaveLength(1);
    story.host.fault = undefined;
    expect(await story.tick()).toMatchObject({ outcome: 'completed', delivered: 0 });
  });

  it('finds leftovers of a tick that died after this one had read the state', async () => {
    story.world = [assessment({ id: 1 })];
    const other = { owner: 'dead', until: story.clock.now().add({ seconds: 1 }) };
    // Another tick commits and dies after this one has read the state and found it clean.
    const ledger = story.ledgerWith({
      state: async () => {
        const state = await story.ledger.state();
        const before = story.world;
        story.world = [assessment({ id: 9 })];
        await story.ledger.takeLease(other, story.clock.now());
        story.clock.advance({ seconds: 2 });
        const dead = { ...story.subscribers, publish: () => Promise.reject(new Error('killed')) };
        await story.tick({ announcer: dead }).catch(() => undefined);
        story.world = [...before, ...story.world];
        return state;
      },
    });
    expect(await story.tick({ ledger })).toMatchObject({ created: 1, delivered: 2 });
    expect(story.ids().sort()).toEqual([`${story.name}/1/1`, `${story.name}/9/1`]);
  });

  it('commits and delivers the other changes if one cannot be committed, and reports the failure', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 }), assessment({ id: 3 })];
    const ledger = story.ledgerWith({
      commit: async (change, event, now, destiny) => {
        if (change.id === 2) throw new LedgerUnavailableError('PutItem', {});
        return story.ledger.commit(change, event, now, destiny);
      },
    });
    const failure = { code: 'ledger-unavailable' };
    expect(await story.tick({ ledger })).toMatchObject({ failed: 1, failure, delivered: 2 });
    expect(story.ids().sort()).toEqual([`${story.name}/1/1`, `${story.name}/3/1`]);
    expect(await story.tick()).toMatchObject({ created: 1, delivered: 1 });
  });

  it('delivers a change whose commit succeeded without an answer', async () => {
    story.world = [assessment({ id: 1 })];
    const ledger = story.ledgerWith({
      commit: async (change, event, now, destiny) => {
        await story.ledger.commit(change, event, now, destiny);
        throw new LedgerUnavailableError('PutItem', {});
      },
    });
    expect(await story.tick({ ledger })).toMatchObject({ failed: 1, delivered: 0 });
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 1 });
    expect(story.ids()).toEqual([`${story.name}/1/1`]);
  });

  it('delivers a change whose commit the SDK sent twice', async () => {
    story.world = [assessment({ id: 1 })];
    const ledger = story.ledgerWith({
      commit: async (change, event, now, destiny) => {
        await story.ledger.commit(change, event, now, destiny);
        return story.ledger.commit(change, event, now, destiny);
      },
    });
    expect(await story.tick({ ledger })).toMatchObject({ conflicts: 1, delivered: 0 });
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 1 });
  });

  it('delivers leftovers of many pages, and leaves some to the next tick if its time ends', async () => {
    story.settings = { holdAbove: 10_000 };
    story.world = Array.from({ length: 450 }, (_, index) => assessment({ id: index + 1 }));
    story.subscribers.refuse = () => true;
    expect(await story.tick()).toMatchObject({ created: 450, undelivered: 450 });
    story.subscribers.refuse = () => false;
    const slow: Announcer = {
      ...story.subscribers,
      publish: (owed, deadline) => {
        story.clock.advance({ seconds: 30 });
        return story.subscribers.publish(owed, deadline);
      },
    };
    const { delivered } = await story.tick({ announcer: slow });
    expect(delivered).toBeLessThan(450);
    expect((await story.ledger.state()).dirtySince).toBeDefined();
    await story.tick();
    await story.tick();
    expect(new Set(story.ids()).size).toBe(450);
  });

  it('does not call the outbox clean while an item in it is unreadable', async () => {
    story.world = [assessment({ id: 1 })];
    const dead = { ...story.subscribers, publish: () => Promise.reject(new Error('killed')) };
    await expect(story.tick({ announcer: dead })).rejects.toThrow('killed');
    story.clock.advance({ minutes: 20 });
    const corrupt = story.ledgerWith({
      leftovers: async function* () {
        yield { owed: [], unreadable: [new LedgerCorruptError('CERT#x#1', ['outbox'])] };
      },
    });
    expect(await story.tick({ ledger: corrupt })).toMatchObject({ undelivered: 1 });
    expect(story.warnings).toContain('outbox unreadable');
    expect((await story.ledger.state()).dirtySince).toBeDefined();
  });

  it.each([
    { batch: 0, seconds: 60, cutShort: true, delivered: 0 },
    { batch: 0, seconds: 61, cutShort: false, delivered: 300 },
    { batch: 20, seconds: 110, cutShort: true, delivered: 200 },
    { batch: 20, seconds: 111, cutShort: false, delivered: 300 },
  ])(
    'reserves ten seconds for its end, or twice the time of its longest batch: $batch s, $seconds s',
    async (one) => {
      const { batch, seconds, cutShort, delivered } = one;
      // Page and tail show two hundred. The tick has to locate the others, after fifty seconds and
      // a batch.
      story.world = Array.from({ length: 300 }, (_, index) => assessment({ id: index + 1 }));
      const { tail } = story.partner;
      story.partner.tail = (...asked) => {
        story.clock.advance({ seconds: 50 });
        return tail(...asked);
      };
      const slow: Announcer = {
        ...story.subscribers,
        publish: (owed, deadline) => {
          if (story.heard.length === 0) story.clock.advance({ seconds: batch });
          return story.subscribers.publish(owed, deadline);
        },
      };
      const report = await story.tick({ announcer: slow, seconds });
      expect(report).toMatchObject({ cutShort, delivered });
    },
  );

  it('takes a lease that lasts longer than its invocation', async () => {
    const leases: Lease[] = [];
    const ledger = story.ledgerWith({
      takeLease: (lease, now) => {
        leases.push(lease);
        return story.ledger.takeLease(lease, now);
      },
    });
    story.world = [assessment()];
    const deadline = story.clock.now().add({ seconds: 60 });
    await story.tick({ ledger, seconds: 60 });
    expect(leases.map(({ until }) => Temporal.Instant.compare(until, deadline))).toEqual([1]);
  });

  it('writes its heartbeat also when it is quiet', async () => {
    story.clock.advance({ minutes: 1 });
    await story.tick();
    expect((await story.ledger.state()).heartbeat).toBe(story.clock.now().toString());
  });

  it('reads leftovers again while the index may not show them yet', async () => {
    story.world = [assessment({ id: 1 })];
    const dead = { ...story.subscribers, publish: () => Promise.reject(new Error('killed')) };
    await expect(story.tick({ announcer: dead })).rejects.toThrow('killed');
    const lagging = story.ledgerWith({ leftovers: async function* () {} });
    expect(await story.tick({ ledger: lagging })).toMatchObject({ delivered: 0 });
    story.clock.advance({ minutes: 1 });
    expect(await story.tick()).toMatchObject({ delivered: 1 });
    story.clock.advance({ minutes: 10 });
    await story.tick();
    expect((await story.ledger.state()).dirtySince).toBeUndefined();
  });

  it('counts a change that another tick committed first, and does not announce it', async () => {
    story.world = [assessment()];
    const ledger = story.ledgerWith({ commit: async () => undefined });
    expect(await story.tick({ ledger })).toMatchObject({ conflicts: 1, created: 0, delivered: 0 });
  });

  it('reports the proofs of its own reads, and not those of a tick that ended meanwhile', async () => {
    story.clock.advance({ minutes: 15 });
    const { pulse } = story.partner;
    let pulses = 0;
    story.partner.pulse = async (deadline) => {
      pulses += 1;
      if (pulses > 1) return pulse(deadline);
      const other = await story.tick();
      expect([other.examined, other.proofs]).toEqual([4, { 'single-page': 4 }]);
      story.clock.advance({ seconds: 1 });
      const day = story.clock.now().toZonedDateTimeISO('UTC').toPlainDate().toString();
      const asked = { count: 0, readAt: 1, askedAt: story.clock.now().epochMilliseconds };
      await story.ledger.saveDays(new Map([[day, asked]]));
      await story.ledger.saveState({ dueAt: 0 });
      return pulse(deadline);
    };
    const { examined, proofs } = await story.tick();
    expect([examined, proofs]).toEqual([1, { 'single-page': 1 }]);
  });

  it('reads a page again if another tick committed one of its changes first, since the page may be older', async () => {
    const [one, ...others] = Array.from({ length: 3 }, (_, index) => assessment({ id: index + 1 }));
    if (one === undefined) throw new Error('there are three');
    story.world = [one, ...others];
    await story.tick();
    const sight = async (email: string) => {
      const seen = { ...one, email };
      const { salt } = await story.ledger.state();
      const [change] = sightingsOf([seen], await story.ledger.known([one.id]), salt);
      return change;
    };
    const older = await sight('older@example.org');
    const ledger = story.ledgerWith({
      commit: async (change, event, ...rest) => {
        // This commit belongs to a killed tick, and arrives only now.
        if (older) await story.ledger.commit(older, event, ...rest);
        return story.ledger.commit(change, event, ...rest);
      },
    });
    story.world = [{ ...one, email: 'newest@example.org' }, ...others];
    expect(await story.tick({ ledger })).toMatchObject({ conflicts: 1, updated: 0 });
    expect(await story.tick()).toMatchObject({ updated: 1 });
    expect(story.heard.at(-1)?.data).toMatchObject({ assessment: { email: 'newest@example.org' } });
  });

  it('that runs out of time stops at a boundary, and the next one resumes', async () => {
    story.settings = { holdAbove: 10_000 };
    story.world = Array.from({ length: 1_100 }, (_, index) => assessment({ id: index + 1 }));
    const slow: Announcer = {
      ...story.subscribers,
      publish: (owed, deadline) => {
        story.clock.advance({ seconds: 30 });
        return story.subscribers.publish(owed, deadline);
      },
    };
    expect(await story.tick({ announcer: slow, seconds: 115 })).toMatchObject({
      cutShort: true,
      delivered: 700,
    });
    expect(await story.tick()).toMatchObject({ cutShort: false, delivered: 400 });
    expect(new Set(story.ids()).size).toBe(1_100);
    expect(story.heard).toHaveLength(1_100);
  });
});
