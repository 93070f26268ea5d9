/** `data_capture_method`: which component and method a condition listens to (D18, D12). */
import { canonicalApi } from '@platform/base';
import { describe } from './json.ts';

export interface CaptureMethod {
  /** `sensor`, or the full `core:component:sensor` if it was written that way. */
  readonly componentType: string;
  readonly componentName: string;
  /** As written, with or without `Get`. */
  readonly method: string;
}

/** The stored source of a reading. */
export interface CaptureSource {
  /** `core:component:sensor`. */
  readonly componentType: string;
  readonly componentName: string;
  readonly methodName: string;
}

/**
 * Parses `<type>:<name>:<method>`. The type is short or a full triplet; the name may contain colons (resources of remotes). On failure,
 * returns the problem as a text.
 */
export function parseCaptureMethod(value: unknown): CaptureMethod | string {
  const expected = 'expected <component type>:<component name>:<method>, e.g. sensor:my-sensor:Readings';
  if (typeof value !== 'string') return `${expected}, found ${describe(value)}`;
  const parts = value.split(':').map((part) => part.trim());
  if (parts.length < 3 || parts.some((part) => part === ''))
    return `${expected} (three non-empty parts), found ${describe(value)}`;
  const isTriplet = parts.length >= 5 && (parts[1] === 'component' || parts[1] === 'service');
  const typeParts = isTriplet ? 3 : 1;
  return {
    componentType: canonicalApi(parts.slice(0, typeParts).join(':')),
    componentName: parts.slice(typeParts, -1).join(':'),
    method: parts.at(-1)!,
  };
}

/** Whether the method refers to readings of a source; it makes no difference whether the name starts with `Get`. */
export function isCapturedBy(method: CaptureMethod, source: CaptureSource): boolean {
  const type = canonicalApi(source.componentType);
  const sameType = method.componentType.includes(':')
    ? type === method.componentType
    : type.split(':').at(-1) === method.componentType;
  return sameType && method.componentName === source.componentName && bare(method.method) === bare(source.methodName);
}

function bare(method: string): string {
  return /^Get[A-Z]/.test(method) ? method.slice(3) : method;
}
