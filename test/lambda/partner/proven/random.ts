import { Random as Seeded } from '../../../simulation/random.ts';

/** Always picks an item. */
export class Random extends Seeded {
  override pick<T>(items: readonly T[]): T {
    const item = super.pick(items);
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}
