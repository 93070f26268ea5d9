/** The types of remotes' resources: those of this version, and those that only a module of the remote knows. */
import { asPlatformError, canonicalApi, type Log } from '@platform/base';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { TypeTable } from '../modules/type-table.ts';
import { unknownType } from '../modules/unknown-type.ts';
import type { RemoteDeps } from './remote.ts';

const timeoutMs = 5_000;
const fullName = /^([A-Za-z_]\w*\.)+[A-Za-z_]\w*$/;
/** Services of the cloud and of built-in types, which a remote must not present as its own. */
const reserved = /^(platform|viam|proto|grpc|google)\./;

/** A type that only the remote knows is added to those of this machine. */
export function createTypeOf(types: Pick<TypeTable, 'of' | 'add'>, log: Log): RemoteDeps['typeOf'] {
  return async (api, link, signal) => {
    const known = types.of(api);
    if (known !== undefined) return known;
    const asked = link.client(RobotService).resourceRPCSubtypes({}, { timeoutMs, signal });
    const { resourceRpcSubtypes: all } = await asked.catch((caught: unknown) => {
      if (asPlatformError(caught).code === 'unimplemented') return { resourceRpcSubtypes: [] };
      throw caught;
    });
    const found = all.find(
      ({ subtype }) => canonicalApi(`${subtype?.namespace}:${subtype?.type}:${subtype?.subtype}`) === api,
    );
    const service = found?.protoService ?? '';
    if (!fullName.test(service) || reserved.test(service)) return undefined;
    const type = await unknownType(api, service, link, log);
    types.add(type);
    return type;
  };
}
