import { Temporal } from 'temporal-polyfill';
import { breakingChanges } from '../contract/compatibility.ts';

/** The facts that decide whether a commit can be released. `publint` and `attw` look at its exports. */
export interface Release {
  readonly version: string;
  readonly changelog: string;
  readonly today: Temporal.PlainDate;
  /** Schemas of the contract by file: the present ones, and the last released ones. */
  readonly contract: ReadonlyMap<string, Schemas>;
  /** Generated files that differ from the output of the sources. */
  readonly stale: readonly string[];
  /** Files that differ from the commit. */
  readonly uncommitted: readonly string[];
  /** Tags of other commits. */
  readonly tags: readonly string[];
  readonly tarball: readonly PackedFile[];
}

interface Schemas {
  readonly current: string;
  readonly released: string | undefined;
}

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

/** Reasons not to release, each with its remedy. */
export function releaseProblems(release: Release): string[] {
  const { version, stale, uncommitted, tags, contract, tarball } = release;
  return [
    ...(tags.includes(`v${version}`)
      ? [`v${version} is the tag of another commit: give package.json the next version`]
      : []),
    ...changelogProblems(release),
    ...[...contract].flatMap(([name, schemas]) => contractProblems(name, schemas)),
    ...stale.map((path) => `${path} is stale: npm run generate`),
    ...uncommitted.map((path) => `${path} differs from the commit: commit or remove it`),
    ...tarballProblems(tarball),
  ];
}

function changelogProblems({ version, changelog, today }: Release): string[] {
  const sections = changelog.replaceAll(/[[\]]/g, '').split(/^## /m);
  const entriesBelow = (start: string) =>
    sections.find((one) => one.startsWith(start))?.match(/^- /gm)?.length ?? 0;
  const date = sections
    .find((one) => one.startsWith(`${version} - `))
    ?.match(/- (\d{4}-\d\d-\d\d)$/m)?.[1];
  const unreleased = entriesBelow('Unreleased');
  return [
    ...(unreleased > 0
      ? [`CHANGELOG.md has ${unreleased} entries below "Unreleased": move them below ${version}`]
      : []),
    ...(date === undefined || entriesBelow(version) === 0
      ? [`CHANGELOG.md has no entries below "## ${version} - ${today}"`]
      : []),
    // Tomorrow has begun at the other end of the date line.
    ...(date !== undefined && Temporal.PlainDate.compare(date, today.add({ days: 1 })) > 0
      ? [`CHANGELOG.md says that ${version} is of ${date}, which is in the future`]
      : []),
  ];
}

const copy = 'cp docs/events/*.schema.json docs/events/released/';

/**
 * Within a version of the contract, nothing may break. A release stores its schemas, and the next one is compared with
 * them.
 */
function contractProblems(name: string, { current, released }: Schemas): string[] {
  if (released === undefined) return [`docs/events/released lacks ${name}: ${copy}`];
  if (current === released) return [];
  const broken = breakingChanges(JSON.parse(released), JSON.parse(current));
  return broken.length > 0
    ? broken.map((change) => `${name} breaks the released contract: ${change}`)
    : [`docs/events/released has ${name} as it was: ${copy}`];
}

/** Files that everybody may read. */
const published = [
  /^(package\.json|README\.md|LICENSE)$/,
  /^ops\/launcher\.mjs$/,
  /^dist\/(consumer|infra|lambda|local|ops|console)\/.*(\.c?js|\.js\.map|\.d\.c?ts|THIRD-PARTY-NOTICES\.txt)$/,
  /^dist\/functions\/(\w|-)+\/index\.mjs$/,
  /^dist\/functions\/THIRD-PARTY-NOTICES\.txt$/,
  /^docs\/events\/[\w-]+\.schema\.json$/,
  /^docs\/events\/asyncapi\.yaml$/,
  /^docs\/events\/examples\/[\w.]+\.json$/,
];

/** Three times the size of November 2026. */
const maxBytes = 15_000_000;

export function tarballProblems(tarball: readonly PackedFile[]): string[] {
  const bytes = tarball.reduce((sum, { size }) => sum + size, 0);
  return [
    ...tarball
      .filter(({ path }) => !published.some((pattern) => pattern.test(path)))
      .map(({ path }) => `the tarball has ${path}, which is not to be published: \`files\``),
    ...(bytes > maxBytes ? [`the tarball has ${bytes} bytes unpacked, more than ${maxBytes}`] : []),
  ];
}
