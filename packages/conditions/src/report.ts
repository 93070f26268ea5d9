import type { Problem } from '@platform/base';

/** Paths are from the `conditional` object on, such as `conditions.evals[0].operator`. */
export type Report = (path: string, message: string, level?: Problem['level']) => void;
