// The HTTP route of the commands in this folder.

export const maintenanceAction = (action: string) => ({ path: "/api/maintenance", action });
