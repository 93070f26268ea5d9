/** Machines: their resource types and their methods. `connectMachine` opens one by its name or address, `cloud.machine(partId)` by its part. */
export { ResourceStatus_State } from '@platform/proto/platform/robot/v1/robot';
export { type CommandResource, commandType, resourceTypes } from '@platform/resources';
export * from '@platform/resources/types';
export type { Path, PathChange, WantedPath } from '@platform/webrtc';
export { type ResumeOptions, resumeStream } from '@platform/webrtc';
export { type ConnectMachineOptions, connectMachine } from './machine/connect-machine.ts';
export { type CopiedFile, readFiles, writeFiles } from './machine/copy-files.ts';
export { callMethod, type MachineMethod, machineMethods } from './machine/machine-methods.ts';
export { moduleMethods } from './machine/module-methods.ts';
export type { Machine, MachineOptions } from './machine/open-machine.ts';
export { openShell, type ShellSession, type WindowSize } from './machine/open-shell.ts';
export { openTunnel, type Tunnel } from './machine/open-tunnel.ts';
export type { ResourceClient } from './machine/resource-client.ts';
