import { expect, it } from 'vitest';
import { describeLedgers, later, now } from './ledgers.ts';

describeLedgers('a pause', (used) => {
  const pause = { since: now, by: 'odile', reason: 'the partner moves' };

  it('is refused before the first tick has made the state', async () => {
    expect(await used().opsLedger.pause(pause, 'call-1')).toBe(false);
    expect(await used().ledger.recordedState()).toBeUndefined();
  });

  it('begins and ends once, and a second write of the same call is part of it', async () => {
    const { ledger, opsLedger } = used();
    await ledger.state();
    expect(await opsLedger.resume('call-0')).toBe(false);
    for (let time = 0; time < 2; time += 1)
      expect(await opsLedger.pause(pause, 'call-1')).toBe(true);
    expect(await opsLedger.pause({ ...pause, reason: 'another' }, 'call-2')).toBe(false);
    expect(await ledger.state()).toMatchObject({ paused: true, pause });
    for (let time = 0; time < 2; time += 1) expect(await opsLedger.resume('call-3')).toBe(true);
    expect(await opsLedger.resume('call-4')).toBe(false);
    expect(await ledger.state()).toMatchObject({ paused: false });
    expect(await ledger.state()).not.toHaveProperty('pause');
  });
});

describeLedgers('the list of commands', (used) => {
  const command = (operation: string) => ({
    ...{ operation, at: now.toString(), by: 'odile', command: 'pause', settings: { reason: 'x' } },
  });

  it('is newest first, each with the outcome of its last call', async () => {
    const { opsLedger } = used();
    for (const name of ['a', 'b']) await opsLedger.record(command(name));
    const outcome = { at: later.toString(), ok: true, changed: false };
    await opsLedger.conclude('a', { ...outcome, ok: false, rest: { after: 'x' } });
    for (const name of ['a', 'not kept']) await opsLedger.conclude(name, outcome);
    expect(await opsLedger.recorded()).toEqual([command('b'), { ...command('a'), outcome }]);
  });

  it('has a hundred at most', async () => {
    const names = Array.from({ length: 101 }, (_, index) => String(1_000 + index));
    for (const name of names) await used().opsLedger.record(command(name));
    const recorded = await used().opsLedger.recorded();
    expect(recorded.map(({ operation }) => operation)).toEqual(names.slice(1).reverse());
  });
});
