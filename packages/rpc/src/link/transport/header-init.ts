/** The argument of `new Headers`. */
export type HeaderInit = ConstructorParameters<typeof Headers>[0];
