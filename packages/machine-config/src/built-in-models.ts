import { canonicalApi } from '@platform/base';

const fake = ['core:builtin:fake'];

/** The built-in models of this version of the machine-server, by API; a test of the machine-server keeps them in step. */
export const builtInModels: Readonly<Record<string, readonly string[]>> = {
  'core:component:arm': fake,
  'core:component:audio_in': fake,
  'core:component:audio_out': fake,
  'core:component:base': fake,
  'core:component:board': [...fake, 'core:builtin:gpio'],
  'core:component:button': fake,
  'core:component:camera': [...fake, 'core:builtin:ffmpeg', 'core:builtin:image_file', 'core:builtin:mjpeg'],
  'core:component:encoder': [...fake, 'core:builtin:incremental', 'core:builtin:single'],
  'core:component:gantry': fake,
  'core:component:generic': fake,
  'core:component:gripper': fake,
  'core:component:input_controller': fake,
  'core:component:motor': [...fake, 'core:builtin:gpio'],
  'core:component:movement_sensor': [...fake, 'core:builtin:nmea'],
  'core:component:power_sensor': [...fake, 'core:builtin:ina219', 'core:builtin:ina226'],
  'core:component:sensor': [
    ...fake,
    'core:builtin:command',
    'core:builtin:host-telemetry',
    'core:builtin:http',
    'core:builtin:modbus',
    'core:builtin:mqtt',
  ],
  'core:component:servo': [...fake, 'core:builtin:gpio'],
  'core:component:switch': fake,
  'core:service:base_remote_control': ['core:builtin:builtin'],
  'core:service:data_manager': ['core:builtin:builtin'],
  'core:service:discovery': fake,
  'core:service:generic': fake,
  'core:service:motion': fake,
  'core:service:navigation': fake,
  'core:service:shell': ['core:builtin:builtin'],
  'core:service:vision': fake,
};

/** What to report about a built-in model that our machine-server lacks; undefined for known ones and for models of modules. */
export function modelFault(api: string, model: string): string | undefined {
  if (!model.startsWith('core:builtin:')) return undefined;
  const known = builtInModels[api] ?? [];
  if (known.includes(model)) return undefined;
  if (known.length === 0)
    return `this platform's machine-server has no resources of type ${api}, other machine servers may have them: found "${model}"`;
  return `expected a model that this platform's machine-server has (${known.join(', ')}) or another machine server, found "${model}"`;
}

/**
 * The full name of a type that a client may have shortened: `sensor` and `rdk:component:sensor` → `core:component:sensor`. If a component and
 * a service have the short name, it is the component. Any other text passes unchanged.
 */
export function fullType(type: string): string {
  if (type.includes(':')) return canonicalApi(type);
  const apis = [`core:component:${type}`, `core:service:${type}`];
  return apis.find((api) => Object.hasOwn(builtInModels, api)) ?? type;
}
