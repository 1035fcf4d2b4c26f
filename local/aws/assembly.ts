import { join } from 'node:path';
import { AssetManifestArtifact, CloudAssembly } from 'aws-cdk-lib/cx-api';
import { AssemblyError } from './errors.ts';
import { type Template, templateSchema } from './template.ts';

/** One synthesized stack. */
export interface StackAssembly {
  readonly stackName: string;
  /** Undefined: the stack takes the region it is deployed to. */
  readonly region: string | undefined;
  readonly template: Template;
  /** The directory whose content is deployed under an object key. @throws AssemblyError */
  assetDirectory(objectKey: string): string;
}

/**
 * Reads a cloud assembly that `cdk synth` or `app.synth()` has written.
 *
 * @param stackName may be left out when the assembly holds exactly one stack
 * @throws AssemblyError
 */
export function readAssembly(directory: string, stackName?: string): StackAssembly {
  const assembly = open(directory);
  const stacks = assembly.stacksRecursively;
  const candidates = stackName ? stacks.filter((stack) => stack.stackName === stackName) : stacks;
  const [stack, ...others] = candidates;
  if (!stack || others.length > 0) {
    const names = stacks.map((known) => known.stackName).join(', ') || 'none';
    throw new AssemblyError(`One stack was expected in the assembly; it holds: ${names}`);
  }
  const { region } = stack.environment;
  return {
    stackName: stack.stackName,
    region: region === 'unknown-region' ? undefined : region,
    template: templateSchema.parse(stack.template),
    assetDirectory: (objectKey) => {
      const files = stack.assembly.artifacts
        .filter((artifact) => AssetManifestArtifact.isAssetManifestArtifact(artifact))
        .flatMap(({ contents }) => Object.values(contents.files ?? {}));
      const path = files.find(
        ({ source, destinations }) =>
          source.path && Object.values(destinations).some((to) => to.objectKey === objectKey),
      )?.source.path;
      if (path) return join(stack.assembly.directory, path);
      throw new AssemblyError(`No asset of the assembly is deployed as ${objectKey}`);
    },
  };
}

function open(directory: string): CloudAssembly {
  try {
    return new CloudAssembly(directory);
  } catch (cause) {
    throw new AssemblyError('The directory holds no cloud assembly', { cause });
  }
}
