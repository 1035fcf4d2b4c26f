import { Temporal } from 'temporal-polyfill';
import { breakingChanges } from '../contract/compatibility.ts';

/** The facts that decide whether a commit can be released. */
export interface Release {
  readonly manifest: Manifest;
  /** The version in the lockfile. */
  readonly lockedVersion: string;
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

export interface Manifest {
  readonly version: string;
  readonly private?: boolean;
  readonly repository?: unknown;
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean };
  readonly bin: Readonly<Record<string, string>>;
  /** By specifier: a path, or paths by condition, at any depth. */
  readonly exports: object;
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
  const { manifest, lockedVersion, stale, uncommitted, tags } = release;
  const { version } = manifest;
  return [
    ...(version === lockedVersion
      ? []
      : [`package-lock.json has version ${lockedVersion}, package.json ${version}: npm install`]),
    ...(tags.includes(`v${version}`)
      ? [`v${version} is the tag of another commit: give package.json the next version`]
      : []),
    ...changelogProblems(release),
    ...[...release.contract].flatMap(([name, schemas]) => contractProblems(name, schemas)),
    ...stale.map((path) => `${path} is stale: npm run generate`),
    ...uncommitted.map((path) => `${path} differs from the commit: commit or remove it`),
    ...tarballProblems(release),
  ];
}

/** Reasons why a release cannot be published in a registry. */
export function reasonsNotToPublish({ manifest }: Release): string[] {
  const { access, provenance } = manifest.publishConfig ?? {};
  return [
    ...(manifest.private ? ['`private` is true: npm refuses to publish'] : []),
    ...(manifest.repository === undefined
      ? ['`repository` is missing: provenance needs it, and so do the links of README']
      : []),
    ...(access === 'public' && provenance === true
      ? []
      : ['`publishConfig` has to say access "public" and provenance true']),
  ];
}

function changelogProblems({ manifest: { version }, changelog, today }: Release): string[] {
  const sections = changelog
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return { heading, entries: lines.filter((line) => line.startsWith('- ')).length };
    });
  const unreleased = sections.find(({ heading }) => /^\[?Unreleased/.test(heading));
  const section = sections.find(({ heading }) =>
    heading.replace(/[[\]]/g, '').startsWith(`${version} `),
  );
  const date = /\d{4}-\d\d-\d\d$/.exec(section?.heading ?? '')?.[0];
  return [
    ...(unreleased && unreleased.entries > 0
      ? [
          `CHANGELOG.md has ${unreleased.entries} entries below "Unreleased": move them below ${version}`,
        ]
      : []),
    ...(section === undefined
      ? [`CHANGELOG.md has no section of this version: "## ${version} - ${today}"`]
      : [
          ...(section.entries === 0 ? [`CHANGELOG.md says nothing below ${version}`] : []),
          ...dateProblems(version, date, today),
        ]),
  ];
}

function dateProblems(
  version: string,
  date: string | undefined,
  today: Temporal.PlainDate,
): string[] {
  if (date === undefined) return [`CHANGELOG.md has no date behind ${version}: "- ${today}"`];
  // Tomorrow has begun at the other end of the date line.
  return Temporal.PlainDate.compare(date, today.add({ days: 1 })) > 0
    ? [`CHANGELOG.md says that ${version} is of ${date}, which is in the future`]
    : [];
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

const pathsIn = (targets: object): string[] =>
  Object.values(targets).flatMap((target) =>
    typeof target === 'string' ? [target] : pathsIn(target),
  );

export function tarballProblems({
  manifest,
  tarball,
}: Pick<Release, 'manifest' | 'tarball'>): string[] {
  const paths = tarball.map(({ path }) => path);
  const bytes = tarball.reduce((sum, { size }) => sum + size, 0);
  const targets = [...Object.values(manifest.bin), ...pathsIn(manifest.exports)].map((target) =>
    target.replace(/^\.\//, ''),
  );
  const isThere = (target: string) =>
    target.endsWith('*')
      ? paths.some((path) => path.startsWith(target.slice(0, -1)))
      : paths.includes(target);
  return [
    ...targets
      .filter((target) => !isThere(target))
      .map((target) => `the tarball lacks ${target}, which package.json exports: npm run build`),
    ...paths
      .filter((path) => !published.some((pattern) => pattern.test(path)))
      .map(
        (path) =>
          `the tarball has ${path}, which is not to be published: \`files\` of package.json`,
      ),
    ...(bytes > maxBytes ? [`the tarball has ${bytes} bytes unpacked, more than ${maxBytes}`] : []),
  ];
}
