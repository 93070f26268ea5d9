/** Size and count limits of packages. */

const mebibyte = 1024 * 1024;

/** Archive of one version. Public machine servers allow 30 minutes for a download. */
export const maxPackageBytes: number = 2048 * mebibyte;
/** Versions and platforms together: `ListPackages` returns all of them in one message. */
export const maxPackagesOfOrganization: number = 2_000;
/** List of files and metadata of one version, as JSON. */
export const maxDescriptionBytes: number = 16 * 1024;
/** The details that `UpdateModule` sets, as JSON: models, description, documentation. */
export const maxModuleBytes: number = 256 * 1024;
/** `ListModules` returns all of them in one message. */
export const maxModulesOfOrganization: number = 500;
/** One message of `CreatePackage`; public clients send chunks of 64 KiB to 4 MiB. */
export const maxMessageBytes: number = 16 * mebibyte;
