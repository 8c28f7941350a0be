{{- define "plaudit.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "plaudit.selector" -}}
app.kubernetes.io/name: plaudit
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "plaudit.labels" -}}
{{ include "plaudit.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
