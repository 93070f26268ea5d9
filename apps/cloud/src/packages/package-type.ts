/** Types of packages, as spelled in configurations and on the command line. */
import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';

const names: ReadonlyMap<PackageType, string> = new Map([
  [PackageType.ARCHIVE, 'archive'],
  [PackageType.ML_MODEL, 'ml_model'],
  [PackageType.MODULE, 'module'],
  [PackageType.SLAM_MAP, 'slam_map'],
  [PackageType.ML_TRAINING, 'ml_training'],
]);

/** Such as `module`; empty for an unknown type. */
export function typeName(type: PackageType): string {
  return names.get(type) ?? '';
}

/** Undefined if the type does not exist. */
export function typeNamed(name: string): PackageType | undefined {
  return [...names].find(([, each]) => each === name)?.[0];
}

export const typeNames: readonly string[] = [...names.values()];
