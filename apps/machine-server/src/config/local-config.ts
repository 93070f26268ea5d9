/** A complete configuration in the `-config` file, for a server without a cloud. */
import { create } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import { type RobotConfig, RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import type { ConfigFile } from './credentials.ts';

/** @throws PlatformError invalid_argument with every error and its path. */
export async function readLocalConfig(file: ConfigFile): Promise<RobotConfig> {
  if (file.kind !== 'local') return create(RobotConfigSchema);
  // Loaded only here: the schema costs more memory than the rest of the server.
  const { parse } = await import('@platform/machine-config/parse');
  const { config, problems } = parse(file.document);
  const errors = problems.filter((problem) => problem.level === 'error');
  if (errors.length > 0) {
    throw new PlatformError(
      'invalid_argument',
      `the configuration has errors: ${errors.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    );
  }
  return toRobotConfig(config, {});
}
