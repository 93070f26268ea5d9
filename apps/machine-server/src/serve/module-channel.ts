/**
 * What a module may not do on its own channel, on which it needs no credentials (D52): use a shell, copy files, or end the server. A module
 * that must do so signs in with the API key in its environment.
 */
import { type PlatformError, permissionDenied } from '@platform/base';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { ShellService } from '@platform/proto/platform/service/shell/v1/shell';
import { isProxy, type Resource } from '@platform/resources';
import type { Call } from '@platform/rpc/server';
import type { Principal } from './authenticate.ts';

const ofMachine: ReadonlySet<string> = new Set(
  ['Shutdown', 'Tunnel'].map((method) => `/${RobotService.typeName}/${method}`),
);
const ofShell: ReadonlySet<string> = new Set(
  ['Shell', 'CopyFilesToMachine', 'CopyFilesFromMachine'].map((method) => `/${ShellService.typeName}/${method}`),
);

/** For calls of modules. @throws permission_denied */
export function requireAllowedToModules({ method }: Pick<Call, 'method'>): void {
  if (ofMachine.has(method)) throw forbidden(method);
}

/** Resources that another module provides are passed on. @throws permission_denied */
export function requireResourceForCaller(
  { method, principal }: Pick<Call<Principal>, 'method' | 'principal'>,
  resource: Resource,
): void {
  if (principal.module !== undefined && ofShell.has(method) && !isProxy(resource)) throw forbidden(method);
}

function forbidden(method: string): PlatformError {
  const name = method.replace(/^.*\.(\w+)\/(\w+)$/, '$1.$2');
  return permissionDenied(
    `${name} is not allowed to a module on its own channel: sign in to the port of this machine with the key in PLATFORM_API_KEY_ID and PLATFORM_API_KEY, which the module has unless "no_api_key" is set for it`,
  );
}
