/** The specification's table of capture methods by resource type, as data (D12). */

export interface CaptureMethod {
  /** As the specification spells it; data is stored under this method name. */
  readonly name: string;
  readonly kind: 'tabular' | 'binary';
}

const binaryMethods: ReadonlySet<string> = new Set([
  'GetImages',
  'ReadImage',
  'NextPointCloud',
  'CaptureAllFromCamera',
  'GetAudio',
]);

const both = ['GetWorldPose', 'DoCommand'];

const table: Readonly<Record<string, readonly string[]>> = {
  'component:arm': ['EndPosition', 'JointPositions', ...both],
  'component:audio_in': ['GetAudio', ...both],
  'component:audio_out': ['GetWorldPose'],
  'component:base': ['Position', ...both],
  'component:board': ['Analogs', 'Gpios', ...both],
  'component:button': both,
  'component:gripper': both,
  'component:input_controller': both,
  'component:switch': both,
  'component:generic': both,
  'component:camera': ['GetImages', 'ReadImage', 'NextPointCloud', ...both],
  'component:encoder': ['TicksCount', ...both],
  'component:gantry': ['Lengths', 'Position', ...both],
  'component:motor': ['Position', 'IsPowered', ...both],
  'component:movement_sensor': [
    'AngularVelocity',
    'CompassHeading',
    'LinearAcceleration',
    'LinearVelocity',
    'Orientation',
    'Position',
    // Public clients capture these two as well.
    'Readings',
    ...both,
  ],
  'component:sensor': ['Readings', ...both],
  'component:power_sensor': ['Voltage', 'Current', 'Power', 'Readings', ...both],
  'component:servo': ['Position', ...both],
  'service:base_remote_control': ['DoCommand'],
  'service:discovery': ['DoCommand'],
  'service:motion': ['DoCommand'],
  'service:navigation': ['DoCommand'],
  'service:shell': ['DoCommand'],
  'service:vision': ['CaptureAllFromCamera', 'DoCommand'],
};

/** The types of the table: `component:arm`, … */
export const capturedTypes: readonly string[] = Object.keys(table);

/** The capture methods of an API (`core:component:sensor`). A type that the table does not list has `DoCommand`. */
export function captureMethodsOf(api: string): readonly CaptureMethod[] {
  const names = table[api.slice(api.indexOf(':') + 1)] ?? ['DoCommand'];
  return names.map((name) => ({ name, kind: binaryMethods.has(name) ? 'binary' : 'tabular' }));
}

/** The method that `name` refers to for this API; undefined if the type does not have it. */
export function captureMethodOf(api: string, name: string): CaptureMethod | undefined {
  const methods = captureMethodsOf(api);
  const found = methodNamed(
    methods.map((method) => method.name),
    name,
  );
  return methods.find((method) => method.name === found);
}

/** The one of `names` that `name` refers to: exactly, or with or without a leading `Get` (D12). */
export function methodNamed(names: readonly string[], name: string): string | undefined {
  const bare = (text: string): string => (text.startsWith('Get') ? text.slice(3) : text);
  return names.find((known) => known === name || bare(known) === bare(name));
}

interface RequiredParam {
  readonly name: string;
  readonly expected: string;
  isGiven(value: unknown): boolean;
}

const nameOf = (name: string): RequiredParam => ({
  ...{ name, expected: 'a name' },
  isGiven: (value) => typeof value === 'string' && value !== '',
});

const requiredParams: Readonly<Record<string, RequiredParam>> = {
  DoCommand: {
    ...{ name: 'docommand_input', expected: 'an object (the command)' },
    isGiven: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  },
  Analogs: nameOf('reader_name'),
  Gpios: nameOf('pin_name'),
  CaptureAllFromCamera: nameOf('camera_name'),
};

/** What `additional_params` of a method must contain. */
export function requiredParamOf(method: string): RequiredParam | undefined {
  return requiredParams[methodNamed(Object.keys(requiredParams), method) ?? ''];
}
