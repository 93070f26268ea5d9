/** A complete configuration in the `-config` file, for a server without a cloud. */
import { create } from '@bufbuild/protobuf';
import { type Log, PlatformError } from '@platform/base';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import { type RobotConfig, RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { logProblems } from '../logging/log-problems.ts';
import type { ConfigFile } from './credentials.ts';

/** Logs the warnings. @throws PlatformError invalid_argument with the file, and every error and its path. */
export async function readLocalConfig(file: ConfigFile, log: Log): Promise<RobotConfig> {
  if (file.kind !== 'local') return create(RobotConfigSchema);
  // Loaded only here: the schema costs more memory than the rest of the server.
  const { parse } = await import('@platform/machine-config/parse');
  const { config, problems } = parse(file.document);
  const errors = problems.filter((problem) => problem.level === 'error');
  if (errors.length > 0) {
    throw new PlatformError(
      'invalid_argument',
      `configuration file ${file.path} has errors: ${errors.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    );
  }
  // Those of `log` are reported again whenever the levels are set.
  logProblems(
    log,
    problems.filter(({ path }) => !path.startsWith('log[')),
  );
  return toRobotConfig(config, {});
}
