/** What a method of a machine does, decided only by its descriptor; the cloud and machines decide alike. Pure. */
import { type DescMethod, type DescService, getOption } from '@bufbuild/protobuf';
import { safety_heartbeat_monitored } from '@platform/proto/platform/common/v1/common';

/**
 * `read` changes nothing: operators, not audited. `control` moves or changes something on the machine: operators, audited. `manage` runs
 * programs on the computer or stops its server: owners, audited.
 */
export type MethodAccess = 'read' | 'control' | 'manage';

const reading =
  /^(Get|Is|List|Read|Stream(Ticks|Events|Status)$|CaptureAll|Discover|Resource|Transform|FrameSystem|BlockFor|PlanTo)/;
/** `PWM` and `PWMFrequency` return what is set; sessions move nothing themselves, and their heartbeats come several times a second. */
const otherReading: ReadonlySet<string> = new Set(['PWM', 'PWMFrequency', 'StartSession', 'SendSessionHeartbeat']);
/** Methods of the machine itself. */
const managing: ReadonlySet<string> = new Set(['Shutdown', 'RestartModule', 'Tunnel', 'UploadDataFromPath']);
/** Services that give access beyond resources, to programs and files of the computer. */
const managed: ReadonlySet<string> = new Set(['platform.service.shell.v1.ShellService']);

/** Whether the service describes the services of a machine. */
export function isReflection({ typeName }: Pick<DescService, 'typeName'>): boolean {
  return /^grpc\.reflection\.v1(alpha)?\.ServerReflection$/.test(typeName);
}

/** Whether only a module of the machine knows the service. */
export function isOfModule({ typeName }: DescService): boolean {
  return !typeName.startsWith('platform.');
}

/** A method that is not known to read is treated as one that moves something; so is a method of a module, whatever its name suggests. */
export function accessOf(method: DescMethod): MethodAccess {
  const { name, parent } = method;
  // Every type has GetStatus.
  if (isOfModule(parent)) return isReflection(parent) || name === 'GetStatus' ? 'read' : 'control';
  const reads = !getOption(method, safety_heartbeat_monitored) && (reading.test(name) || otherReading.has(name));
  if (managed.has(parent.typeName)) return name === 'GetStatus' ? 'read' : 'manage';
  if (parent.name === 'RobotService' && managing.has(name)) return 'manage';
  return reads ? 'read' : 'control';
}
