import { Temporal } from 'temporal-polyfill';

/**
 * The facts that decide whether a commit can be released. The tests look at generated files, at the contract, and at
 * places that repeat the version; git refuses a tag that exists.
 */
export interface Release {
  readonly version: string;
  readonly changelog: string;
  readonly today: Temporal.PlainDate;
  /** Schemas of the contract that differ from the last released ones. */
  readonly unreleased: readonly string[];
  /** Files of the work tree that differ from the commit. The tarball has them as they are. */
  readonly uncommitted: readonly string[];
  readonly tarball: readonly PackedFile[];
  /** Judges of the tarball that refuse it, and have told why. */
  readonly refusedBy: readonly string[];
}

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

/** Reasons not to release, each with its remedy. */
export function releaseProblems(release: Release): string[] {
  return [
    ...release.uncommitted.map((path) => `git has uncommitted changes of ${path}`),
    ...changelogProblems(release),
    ...release.unreleased.map(
      (path) =>
        `${path} is not released: cp -r docs/events/*.schema.json docs/events/examples docs/events/released/`,
    ),
    ...tarballProblems(release.tarball),
    ...release.refusedBy.map((judge) => `${judge} refuses the tarball: see above`),
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
