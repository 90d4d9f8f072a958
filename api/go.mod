module github.com/armature-go/armature/api

go 1.26.0
