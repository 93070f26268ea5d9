import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';

export interface RestartModuleOptions {
  /** `host:port` of the machine-server. */
  readonly address: string;
  /** Its name in the configuration. */
  readonly module: string;
  /** An API key of the machine; absent: its port asks for none. */
  readonly key?: { readonly keyId: string; readonly key: string } | undefined;
  readonly signal: AbortSignal;
}

/** Stops the process of a module of a machine and starts it again. Throws an error with a gRPC code. */
export async function restartModule({ address, module, key, signal }: RestartModuleOptions): Promise<void> {
  await using link = connect({
    baseUrl: `http://${address}`,
    ...(key && { credentials: { entity: key.keyId, type: 'api-key', payload: key.key } }),
    signal,
  });
  await link.client(RobotService).restartModule({ idOrName: { case: 'moduleName', value: module } });
}
