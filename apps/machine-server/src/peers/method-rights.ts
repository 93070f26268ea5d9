/** Which methods a caller may call whom the cloud, or this machine, has admitted. */
import type { DescMethod } from '@bufbuild/protobuf';
import { permissionDenied } from '@platform/base';
import { CallerAccess } from '@platform/proto/platform/relay/v1/relay';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { accessOf, type MethodAccess, type ResourceDescriptor } from '@platform/resources';
import { methodPath } from '@platform/rpc/server';

const own: ReadonlyMap<string, MethodAccess> = new Map(accessesOf(RobotService.methods));

/** @param types of this machine at the time of the call. @returns `read` for paths that no resource has: health and reflection */
export function methodAccess(path: string, types: readonly ResourceDescriptor[]): MethodAccess {
  const known = own.get(path);
  if (known !== undefined) return known;
  const [, service = '', name = ''] = path.split('/');
  const type = types.find((each) => each.service.typeName === service);
  const method = type?.service.methods.find((each) => each.name === name);
  return method === undefined ? 'read' : accessOf(method);
}

/** @throws permission_denied */
export function requireAccess(path: string, needed: MethodAccess, access: CallerAccess): void {
  if (access === CallerAccess.MANAGE || (access === CallerAccess.CONTROL && needed !== 'manage')) return;
  const found = access === CallerAccess.CONTROL ? 'one that may control it' : 'none any more';
  throw permissionDenied(`${path}: expected a caller who may manage this machine (the role owner), found ${found}`);
}

function accessesOf(methods: readonly DescMethod[]): [string, MethodAccess][] {
  return methods.map((method) => [methodPath(method), accessOf(method)]);
}
