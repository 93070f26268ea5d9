/** A complete configuration in the `-config` file, for a server without a cloud. */
import type { Problem } from '@platform/base';
import type { JsonText } from '@platform/machine-config/read-json';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import type { JsonObject } from '@platform/machine-config/schema';
import { unknownAttributes } from '@platform/machine-config/unknown-attributes';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { withoutLocalSettings } from './local-settings.ts';

export interface LocalConfig {
  /** The valid part of the file: entries with errors are omitted. */
  readonly config: RobotConfig;
  /** Each message begins with the place in the file. */
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export async function parseLocalConfig({
  document,
  problems: duplicates,
  placeOf,
}: Extract<JsonText, { kind: 'read' }>): Promise<LocalConfig> {
  // Loaded only here: the schema costs more memory than the rest of the server.
  const { parse } = await import('@platform/machine-config/parse');
  const { config, problems } = parse(withoutLocalSettings(document));
  const all = [...duplicates, ...problems];
  const isError = ({ level }: Problem): boolean => level === 'error';
  const errors = all
    .filter(isError)
    .map((problem) => ({ ...problem, message: `${placeOf(problem.path)}: ${problem.message}` }));
  // Problems of `log` are reported whenever the levels are set, those of attributes by `attribute-warnings.ts`.
  const resources = [...config.components, ...config.services];
  const later = new Set(resources.flatMap((each) => unknownAttributes(each, '').map(({ message }) => message)));
  const warnings = all.filter(
    (problem) => !isError(problem) && !problem.path.startsWith('log[') && !later.has(problem.message),
  );
  return { config: toRobotConfig({ ...config, network: soundNetwork(config.network, errors) }, {}), errors, warnings };
}

/** Omits settings with errors: otherwise the server could not listen at all. */
function soundNetwork(network: JsonObject | undefined, errors: readonly Problem[]): JsonObject | undefined {
  if (network === undefined) return undefined;
  const faulty = new Set(errors.map(({ path }) => /^network\.(\w+)/.exec(path)?.[1]));
  // Neither of the two is usable alone.
  if (faulty.has('tls_cert_file')) faulty.add('tls_key_file');
  return Object.fromEntries(Object.entries(network).filter(([key]) => !faulty.has(key)));
}
