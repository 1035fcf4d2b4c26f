interface Count {
  readonly covered: number;
  readonly total: number;
}
interface Counts {
  readonly lines: Count;
  readonly branches: Count;
}

export interface CoverageReport {
  readonly rooms: Readonly<Record<string, Counts>>;
  /** With the lines that were never run. */
  readonly files: Readonly<Record<string, Counts & { readonly missed: readonly number[] }>>;
}

const kinds = ['lines', 'branches'] as const;

/** A room is a folder, or `lambda/` and each folder in it. */
function roomsOf(path: string): readonly string[] {
  const [first = '', second = '', ...within] = path.split('/');
  return first === 'lambda' && within.length > 0 ? [first, `${first}/${second}`] : [first];
}

export function reportOf(files: CoverageReport['files']): CoverageReport {
  const rooms: Record<string, Counts> = {};
  for (const [path, { lines, branches }] of Object.entries(files))
    for (const name of roomsOf(path)) {
      const room = rooms[name];
      rooms[name] = {
        lines: sum(room?.lines, lines),
        branches: sum(room?.branches, branches),
      };
    }
  return { rooms, files };
}

function sum(one: Count | undefined, other: Count): Count {
  return one
    ? { covered: one.covered + other.covered, total: one.total + other.total }
    : { ...other };
}

const percent = ({ covered, total }: Count) => (total === 0 ? 100 : (100 * covered) / total);

export function table({ rooms }: CoverageReport): string {
  const cell = (count: Count) =>
    `${`${count.covered}/${count.total}`.padStart(12)} ${percent(count).toFixed(1).padStart(6)} %`;
  const rows = Object.entries(rooms)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, { lines, branches }]) => `${name.padEnd(20)}${cell(lines)}${cell(branches)}`);
  return [`${'room'.padEnd(20)}${'lines'.padStart(21)}${'branches'.padStart(21)}`, ...rows].join(
    '\n',
  );
}

/**
 * Figures that have fallen, a line for each room and kind. Differences below a twentieth of a percent count as
 * rounding.
 */
export function fallsBetween(earlier: CoverageReport, later: CoverageReport): readonly string[] {
  return Object.entries(earlier.rooms).flatMap(([name, before]) => {
    const after = later.rooms[name];
    if (!after) return [];
    return kinds.flatMap((kind) => {
      const [was, is] = [percent(before[kind]), percent(after[kind])];
      return was - is > 0.05 ? [`${name}: ${kind} ${was.toFixed(1)} % → ${is.toFixed(1)} %`] : [];
    });
  });
}
