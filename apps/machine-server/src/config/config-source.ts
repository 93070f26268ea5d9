/** The source of a machine's configuration: its cloud (config-watch.ts) or a local file (local-file.ts). */
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { Held } from './holding.ts';

export type Apply = (config: RobotConfig) => unknown;
export type Hold = (config: RobotConfig) => Promise<string | undefined>;

export interface ConfigSource extends AsyncDisposable {
  /** The configuration to start with. @throws PlatformError if there is none that may be used */
  first(signal: AbortSignal): Promise<RobotConfig>;
  /**
   * Follows the source; `apply` gets each configuration that differs from the previous one, and is awaited. If it fails, it is called again
   * later. The work that it starts is not awaited, so that a later configuration can correct it.
   *
   * @param hold returns why a configuration of another revision must wait; undefined if it need not.
   */
  start(apply: Apply, hold: Hold): void;
  readonly held: Held | undefined;
  /** Why the newest configuration of the source is not in use; empty if there is no problem. */
  readonly problem: string;
}
