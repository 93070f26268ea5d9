import type { Problem } from '@platform/base';

/** Paths are relative to the `conditional` object, such as `conditions.evals[0].operator`. */
export type Report = (path: string, message: string, level?: Problem['level']) => void;
