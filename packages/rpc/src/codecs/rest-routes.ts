/** Paths under which unary methods are reachable as plain JSON, as the public API annotates them. */

export interface RestRoute {
  readonly verb: 'GET' | 'POST';
  /** `{name}` stands for one path segment and fills the request field of that name. */
  readonly path: string;
  readonly method: string;
}

const robot = 'platform.robot.v1.RobotService';
const sensor = 'platform.component.sensor.v1.SensorService';

export const restRoutes: readonly RestRoute[] = [
  { verb: 'POST', path: '/rpc/v1/authenticate', method: '/proto.rpc.v1.AuthService/Authenticate' },
  {
    verb: 'POST',
    path: '/datasync/v1/data_capture_upload',
    method: '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload',
  },
  { verb: 'GET', path: '/platform/api/v1/operations/list', method: `/${robot}/GetOperations` },
  { verb: 'GET', path: '/platform/api/v1/resources/list', method: `/${robot}/ResourceNames` },
  { verb: 'GET', path: '/platform/api/v1/resource_rpc_subtypes/list', method: `/${robot}/ResourceRPCSubtypes` },
  { verb: 'GET', path: '/platform/api/v1/cloud_metadata', method: `/${robot}/GetCloudMetadata` },
  { verb: 'GET', path: '/platform/api/v1/machine_status', method: `/${robot}/GetMachineStatus` },
  { verb: 'GET', path: '/platform/api/v1/version', method: `/${robot}/GetVersion` },
  { verb: 'GET', path: '/platform/api/v1/component/sensor/{name}/readings', method: `/${sensor}/GetReadings` },
  { verb: 'POST', path: '/platform/api/v1/component/sensor/{name}/do_command', method: `/${sensor}/DoCommand` },
  { verb: 'GET', path: '/platform/api/v1/component/sensor/{name}/geometries', method: `/${sensor}/GetGeometries` },
];

export interface RestMatch {
  readonly route: RestRoute;
  readonly fields: Readonly<Record<string, string>>;
}

/** The route of a canonical path; undefined if there is none. The caller checks the verb, for preflights and 405. */
export function matchRest(path: string): RestMatch | undefined {
  const segments = path.split('/');
  for (const route of restRoutes) {
    const fields = matchSegments(route.path.split('/'), segments);
    if (fields !== undefined) return { route, fields };
  }
  return undefined;
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const fields: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith('{')) {
      const value = decoded(segment);
      if (value === undefined || value === '') return undefined;
      fields[part.slice(1, -1)] = value;
    } else if (part !== segment) {
      return undefined;
    }
  }
  return fields;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
