import { happened, type Score, scoreOf } from '../score.ts';
import type { Heard } from '../subscriber.ts';

type Ids = ReadonlySet<number>;

/**
 * Judges a world that changed all the time. Events must report each id that came for good, and each that went for good.
 * They may report ids that came or went in between. They may not report ids that every look showed.
 *
 * @param looks the visible ids of each look, in order
 */
export function verdictOfUnrest(looks: readonly Ids[], heard: readonly Heard[]): Score {
  const first = looks[0] ?? new Set();
  const last = looks.at(-1) ?? first;
  const truth = [
    ...[...last].filter((id) => !first.has(id)).map(happened('created')),
    ...[...first].filter((id) => !last.has(id)).map(happened('withdrawn')),
  ];
  const required = new Set(truth.map(({ type, subject }) => `${type} ${subject}`));
  const judged = heard.filter(
    ({ type, subject }) =>
      required.has(`${type} ${subject}`) ||
      (type !== 'certification.updated' && !isPossible(looks, type, Number(subject))),
  );
  return scoreOf(truth, judged);
}

/** An id that no look showed may have come and gone between two looks. */
function isPossible(looks: readonly Ids[], type: string, id: number): boolean {
  const there = looks.map((look) => look.has(id));
  if (!there.includes(true)) return true;
  const change = type === 'certification.withdrawn' ? [true, false] : [false, true];
  const from = there.indexOf(change[0] ?? true);
  return from >= 0 && there.indexOf(change[1] ?? false, from) >= 0;
}
