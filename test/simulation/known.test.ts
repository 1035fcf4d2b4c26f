import { describe, expect, it } from 'vitest';
import { collapsed } from './calm.ts';
import { explained, known, newsIn, vanishedLife } from './known.ts';
import { Life } from './life.ts';
import { calmest } from './plan.ts';
import { simulate } from './simulate.ts';

/** Known defects. The test of one fails once it is mended; then the test goes away with the entry in `known.ts`. */
describe('known to be wrong', () => {
  it('a small world that vanishes whole while its tick is killed is never believed gone', async () => {
    const { findings } = await simulate(vanishedLife.seed, { plan: vanishedLife.plan });
    expect(findings).toContainEqual(expect.stringMatching(/ is gone and was not withdrawn /));
    expect(newsIn(findings)).toEqual([]);
  });

  it('the same findings are news where no tick has died', async () => {
    const { seed, plan } = vanishedLife;
    const { findings, coverage } = await simulate(seed, { plan });
    const bare = findings.map((finding) => finding.replace(` (${known.vanished})`, ''));
    const state = { expected: 0 };
    expect(explained(bare, { state, present: 0, coverage })).toEqual(findings);
    const alive = new Map([...coverage].filter(([what]) => what !== 'killed'));
    expect(newsIn(explained(bare, { state, present: 0, coverage: alive }))).toEqual(bare);
  });

  it('a collapse is not told when an accepted total has been outgrown to twice its size', async () => {
    const life = new Life(1, calmest);
    const ticks = async (many: number) => {
      for (let n = 0; n < many; n++) {
        await life.timeline.until(life.tick());
        await life.timeline.pass({ seconds: 60 });
      }
    };
    const ids = Array.from({ length: 20 }, () => life.world.create());
    await ticks(3);
    life.world.moment += 1;
    for (const id of ids.slice(4)) life.world.remove(id);
    await ticks(2);
    expect((await life.ledger.state()).collapsedFrom).toBe(20);
    expect(await life.timeline.until(life.acceptTotal())).toBe(true);
    for (let n = 0; n < 8; n++) life.world.create();
    await ticks(4);
    await collapsed(life, () => ticks(2));
    expect(life.findings).toEqual([
      `a collapse is to be told once (${known.outgrown})`,
      `what had collapsed was believed to be gone (${known.outgrown})`,
    ]);
  });
});
